// The KEP's own bound: kubelet and runtime together, with the gate on against the gate off, on the same real pods; and with
// the gate on and `keelson cri` in front of a runtime that was not made for the question.
import { setTimeout as sleep } from 'node:timers/promises'
import { type CriBetween, type PodNode, startBetween } from '../../test/kubelet-pods/node.js'
import { containerdUsage, type Usage, usageOf } from '../process-usage.js'

const INTERVAL_MS = 10_000
const SETTLE_MS = 15_000
const paths = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary']

export type GateMode = 'off' | 'on' | 'on, keelson cri'

export interface GateCost {
  readonly mode: GateMode
  readonly kubelet: Usage
  /** A shim reads the cgroup when containerd is asked for figures. */
  readonly runtime: Usage
}

/** The server is part of the runtime, as the kubelet sees it. */
function sum(runtime: Usage, between: CriBetween | undefined): Usage {
  const pid = between?.server.process.pid
  if (pid === undefined) return runtime
  const server = usageOf(pid)
  return { cpuS: runtime.cpuS + server.cpuS, rssMiB: runtime.rssMiB + server.rssMiB }
}

/** CPU seconds of a minute, memory at its end. */
async function measure(
  node: PodNode,
  mode: GateMode,
  main: string,
  windowMs: number,
  signal: AbortSignal,
): Promise<GateCost> {
  const between =
    mode === 'on, keelson cri' ? await startBetween({ main }, node.containerd, node.directory) : undefined
  const runtimeNow = (): Usage => sum(containerdUsage(node.containerd.dir), between)
  const through = between === undefined ? [] : [`--container-runtime-endpoint=${between.endpoint}`]
  try {
    await node.start([`--feature-gates=PodAndContainerStatsFromCRI=${mode !== 'off'}`, ...through])
    await sleep(SETTLE_MS, undefined, { signal })
    const before = { kubelet: usageOf(node.pid), runtime: runtimeNow() }
    const began = performance.now()
    while (performance.now() - began < windowMs) {
      for (const path of paths) await node.ask(path)
      await sleep(INTERVAL_MS, undefined, { signal })
    }
    const minutes = (performance.now() - began) / 60_000
    const after = { kubelet: usageOf(node.pid), runtime: runtimeNow() }
    const part = (which: 'kubelet' | 'runtime'): Usage => ({
      cpuS: (after[which].cpuS - before[which].cpuS) / minutes,
      rssMiB: after[which].rssMiB,
    })
    return { mode, kubelet: part('kubelet'), runtime: part('runtime') }
  } finally {
    await node.stop()
    await between?.server.end('SIGTERM')
  }
}

const mean = (costs: readonly GateCost[], mode: GateMode): GateCost => {
  const own = costs.filter((c) => c.mode === mode)
  const of = (pick: (c: GateCost) => number): number =>
    own.reduce((sum, c) => sum + pick(c), 0) / Math.max(1, own.length)
  return {
    mode,
    kubelet: { cpuS: of((c) => c.kubelet.cpuS), rssMiB: of((c) => c.kubelet.rssMiB) },
    runtime: { cpuS: of((c) => c.runtime.cpuS), rssMiB: of((c) => c.runtime.rssMiB) },
  }
}

const modes: readonly GateMode[] = ['off', 'on', 'on, keelson cri']

/** Each mode twice, in turn: what drifts meets all. */
export async function measureGate(
  node: PodNode,
  main: string,
  windowMs: number,
  signal: AbortSignal,
): Promise<readonly GateCost[]> {
  const costs: GateCost[] = []
  for (const mode of [...modes, ...modes]) costs.push(await measure(node, mode, main, windowMs, signal))
  return modes.map((mode) => mean(costs, mode))
}
