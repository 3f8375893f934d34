// Other cpu and memory values for a running pod, in place: its cgroup and every container that differs. A limit below what is
// in use waits: the kernel would answer it with OOM kills.
import { readCount } from '../../../core/cgroup/control-file.js'
import { findContainerCgroup } from '../../../core/cgroup/pod-cgroup.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { CgroupPath, ControlValues } from '../../../ports/cgroups.js'
import type { PodContext } from '../context.js'
import type { Hold } from '../decide/actions.js'
import type { ObservedPod } from '../decide/observed.js'

type ResizeContext = Pick<PodContext, 'cgroups' | 'planner' | 'runtime' | 'log' | 'timeoutMs' | 'clock'>

const waitNanos = 10_000_000_000n

/** A hold: nothing was changed, because memory in use is above a new limit. */
export async function resizePod(
  spec: PodSpec,
  observed: ObservedPod,
  c: ResizeContext,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const { path, values } = c.planner.podCgroup(spec)
  const above = c.cgroups.version === 'v2' ? usedAbove(spec, observed, c) : undefined
  if (above !== undefined)
    return { untilNanos: c.clock.monotonicNanos() + waitNanos, reason: 'ResizeDeferred', message: above }
  // On v2 the pod comes first, whichever way; on v1 the kernel refuses a parent's limit below its child's, both ways.
  await c.cgroups.apply(path, c.cgroups.version === 'v1' ? widest(values) : values, signal)
  for (const id of c.planner.differing(spec, observed).ids) {
    const container = observed.containers.find((one) => one.id === id)
    if (container === undefined) continue
    const linux = c.planner.resources(spec, container.name)
    c.log.info('resizing container', {
      pod: `${spec.pod.namespace}/${spec.pod.name}`,
      container: container.name,
      cpuShares: linux.cpuShares,
      cpuQuota: linux.cpuQuota,
      memoryLimit: linux.memoryLimitInBytes,
    })
    // The score of a running process is not the runtime's to change any more.
    const { oomScoreAdj: _, ...changeable } = linux
    // -1 removes a limit; 0 would leave the one that is there.
    const memoryLimitInBytes = linux.memoryLimitInBytes === 0n ? -1n : linux.memoryLimitInBytes
    await c.runtime.updateContainerResources(
      { containerId: id, linux: { ...changeable, memoryLimitInBytes } },
      { timeoutMs: c.timeoutMs, signal },
    )
  }
  if (c.cgroups.version === 'v1') await c.cgroups.apply(path, values, signal)
  return undefined
}

/** What uses more than its new limit allows, if anything does. */
function usedAbove(spec: PodSpec, observed: ObservedPod, c: ResizeContext): string | undefined {
  const { path, values } = c.planner.podCgroup(spec)
  const uses = (at: CgroupPath): bigint => readCount(c.cgroups, at, 'memory.current') ?? 0n
  const max = values['memory.max']
  if (max !== undefined && max !== 'max' && uses(path) > BigInt(max))
    return `the pod uses more memory than its new limit of ${max} bytes`
  for (const id of c.planner.differing(spec, observed).ids) {
    const name = observed.containers.find((one) => one.id === id)?.name
    const cgroup = findContainerCgroup(c.cgroups.children(path) ?? [], id)
    if (name === undefined || cgroup === undefined) continue
    const limit = c.planner.resources(spec, name).memoryLimitInBytes
    if (limit > 0n && uses(`${path}/${cgroup}`) > limit)
      return `container ${name} uses more memory than its new limit of ${limit} bytes`
  }
  return undefined
}

/** The same values without any limit, for the moment in which the containers change. */
const widest = (values: ControlValues): ControlValues => ({
  ...values,
  'memory.limit_in_bytes': '-1',
  'cpu.cfs_quota_us': '-1',
})
