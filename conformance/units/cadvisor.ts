// KEP-2371: the series of /metrics/cadvisor beside real cAdvisor, on the same real pods, on cgroup v1 and v2; ours from cgroups, and
// those that an upstream kubelet takes from CRI through `keelson cri`.
import { join } from 'node:path'
import { leftOut } from '../../test/support/left-out-metrics.js'
import { hostHasCgroupV2, missingRequirement } from '../../test/support/requirements.js'
import type { KubeletCadvisorPlan } from '../cadvisor/kubelet-inside.js'
import { runInPlace } from '../in-place.js'
import { runAsChecks } from '../matrix/run-checks.js'
import type { Place } from '../node-environment/plan.js'
import { inCache, insideKeelson } from '../node-environment/programs.js'
import type { Unit, UnitContext } from '../unit.js'

const inside = new URL('../cadvisor/inside.ts', import.meta.url)
const hostName = `host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`
/** Rows of pods that the kernel cannot give. */
const rowsLeftOut = [
  'container_fs_io_current',
  'container_fs_io_time_seconds_total',
  'container_fs_io_time_weighted_seconds_total',
  'container_fs_read_seconds_total',
  'container_fs_write_seconds_total',
  'container_fs_reads_merged_total',
  'container_fs_writes_merged_total',
  'container_fs_sector_reads_total',
  'container_fs_sector_writes_total',
  'container_tasks_state',
] as const

const onlyV2 = ['container_memory_events_high_total', 'container_memory_events_max_total'] as const

async function runWithKubelet(context: UnitContext, place: Extract<Place, 'host' | 'uml'>): Promise<void> {
  const name = `upstream kubelet through keelson cri, ${place === 'host' ? hostName : 'UML, cgroup v2'}`
  const missing = missingRequirement({ root: true, packages: ['containerd'] })
  if (missing !== undefined) return context.skip(name, missing)
  const cell = {
    client: 'upstream kubelet',
    runtime: 'containerd-1.6',
    way: 'keelson cri',
    place,
    programs: { kubelet: inCache(context.peer('kubelet')), keelson: insideKeelson, crictl: '', critest: '' },
  } as const
  const onV1 = place === 'host' && !hostHasCgroupV2() ? onlyV2 : []
  const argument: KubeletCadvisorPlan = { cell, leftOut: [...Object.keys(leftOut), ...rowsLeftOut, ...onV1] }
  const program = join(import.meta.dirname, '../cadvisor/kubelet-inside.ts')
  const { runtime } = cell
  await runAsChecks(context, name, { place, runtime, program, argument, timeoutMs: 15 * 60_000 })
}

export const cadvisor: Unit = {
  name: 'cadvisor',
  summary: 'every series that cAdvisor and Keelson both have, on the same real pods (KEP-2371)',
  peers: ['cadvisor', 'kubelet'],
  options: {
    'upstream-kubelet': {
      type: 'boolean',
      summary: 'only the upstream kubelet, from CRI and with its own cAdvisor',
    },
    keep: { type: 'string', summary: 'directory for the logs and answers of the kubelets' },
  },
  async run(context) {
    const common = { inside, peers: ['cadvisor'], timeoutS: 400 } as const
    if (context.options['upstream-kubelet'] !== true) {
      await runInPlace(context, { ...common, name: hostName, place: 'host' })
      await runInPlace(context, { ...common, name: 'UML, cgroup v2', place: 'uml' })
    }
    await runWithKubelet(context, 'host')
    await runWithKubelet(context, 'uml')
  },
}
