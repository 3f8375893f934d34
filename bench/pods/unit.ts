// `pods`: a whole node on this host with 110 static pods: start, ready, at rest, stop. Time, CPU and memory of our process
// beside those of the runtime and its shims.
import { setTimeout as sleep } from 'node:timers/promises'
import { forever, PodNode, shell, until } from '../../test/kubelet/node.js'
import { containerdUsage, type Usage, usageOf } from '../process-usage.js'
import type { BenchReport, BenchUnit } from '../unit.js'

const PODS = 110
const REST_MS = 60_000
/** Looking costs the kubelet and the runtime CPU as well. */
const POLL_MS = 1000
const MAX_REST_SHARE = 0.01

interface Phase {
  readonly name: string
  readonly wallS: number
  readonly ours: Usage
  readonly runtime: Usage
}

async function measure(node: PodNode, name: string, work: () => Promise<unknown>): Promise<Phase> {
  const [ours, runtime] = [usageOf(node.pid), containerdUsage(node.containerd.dir)]
  const began = performance.now()
  await work()
  const wallS = (performance.now() - began) / 1000
  const [after, runtimeAfter] = [usageOf(node.pid), containerdUsage(node.containerd.dir)]
  return {
    name,
    wallS,
    ours: { cpuS: after.cpuS - ours.cpuS, rssMiB: after.rssMiB },
    runtime: { cpuS: runtimeAfter.cpuS - runtime.cpuS, rssMiB: runtimeAfter.rssMiB },
  }
}

interface Life {
  readonly start: Phase
  readonly rest: Phase
  readonly stop: Phase
}

/** All pods come, rest and go, on a node of their own. */
async function live(node: PodNode, signal: AbortSignal): Promise<Life> {
  const names = Array.from({ length: PODS }, (_, i) => `bench${i}`)
  await node.start()
  await sleep(2000, undefined, { signal })
  const start = await measure(node, `${PODS} pods start and become ready`, async () => {
    for (const name of names)
      await node.pod(name, { terminationGracePeriodSeconds: 5, containers: [shell('app', forever)] })
    await until(
      'all pods are ready',
      async () => {
        const ready = (await node.pods()).filter((pod) => pod.status.containerStatuses[0]?.ready === true)
        return ready.length === PODS
      },
      600_000,
      POLL_MS,
    )
  })
  // The garbage of the start is collected in the seconds after it.
  await sleep(15_000, undefined, { signal })
  const rest = await measure(node, 'nothing to do', () => sleep(REST_MS, undefined, { signal }))
  const stop = await measure(node, `${PODS} pods stop and are forgotten`, async () => {
    for (const name of names) await node.removeManifest(`${name}.yaml`)
    await until('all pods have gone', async () => (await node.sandboxes()).length === 0, 600_000, POLL_MS)
  })
  const left = await node.leftovers()
  if (left.length > 0) throw new Error(`left behind: ${left.slice(0, 3).join(', ')}`)
  return { start, rest, stop }
}

async function liveOn(keelsonConfig: string, signal: AbortSignal): Promise<Life> {
  const node = await PodNode.create({ keelsonConfig })
  try {
    return await live(node, signal)
  } finally {
    await node.close()
  }
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const { start, rest, stop } = await liveOn('', signal)
  // The same without the work that is not the pods': values are sampled once, not every ten seconds.
  const loops = (await liveOn('metrics: {period: 10m0s}\n', signal)).rest
  const phases = [start, rest, { ...loops, name: 'nothing to do, values each 10 minutes' }, stop]
  const share = loops.ours.cpuS / loops.wallS
  return {
    file: 'pods',
    title: `${PODS} static pods`,
    method:
      'The bundled kubelet and a containerd 1.6 of its own on this host: runc, CNI bridge, busybox containers that end at ' +
      'SIGTERM. CPU is of the whole process from /proc, without the processes of the containers; memory is resident at ' +
      'the end of the phase. The runtime is containerd with all its shims. Reading the values of 220 cgroups every 10 s, ' +
      'the default, is work; the loops alone are seen on a second node that samples every 10 minutes.',
    columns: ['phase', 'wall s', 'kubelet CPU s', 'kubelet MiB', 'runtime CPU s', 'runtime MiB'],
    rows: phases.map((p) => [
      p.name,
      p.wallS.toFixed(1),
      p.ours.cpuS.toFixed(2),
      p.ours.rssMiB.toFixed(0),
      p.runtime.cpuS.toFixed(2),
      p.runtime.rssMiB.toFixed(0),
    ]),
    targets: [
      {
        name: 'CPU of the loops with nothing to do, of one core',
        measured: `${(share * 100).toFixed(2)} %`,
        limit: `< ${MAX_REST_SHARE * 100} %`,
        met: share < MAX_REST_SHARE,
      },
    ],
  }
}

export const pods: BenchUnit = {
  name: 'pods',
  summary: '110 static pods on this host: start, rest, stop; our process beside the runtime',
  run,
}
