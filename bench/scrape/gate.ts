// The KEP's own bound: kubelet and runtime together, with the gate on against the gate off, on the same real pods.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PodNode } from '../../test/kubelet-pods/node.js'
import { type Usage, usageOf } from './watched.js'

const INTERVAL_MS = 10_000
const SETTLE_MS = 15_000
const paths = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary']

export interface GateCost {
  readonly on: boolean
  readonly kubelet: Usage
  readonly runtime: Usage
}

/** containerd and its shims, which name its directory. A shim reads the cgroup when the runtime is asked for figures. */
function runtimeUsage(directory: string): Usage {
  let cpuS = 0
  let rssMiB = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (!command.includes('containerd') || !command.includes(directory)) continue
      const usage = usageOf(Number(pid))
      cpuS += usage.cpuS
      rssMiB += usage.rssMiB
    } catch {
      // It has ended meanwhile.
    }
  return { cpuS, rssMiB }
}

/** CPU seconds of a minute, memory at its end. */
async function measure(node: PodNode, on: boolean, windowMs: number, signal: AbortSignal): Promise<GateCost> {
  await node.start([`--feature-gates=PodAndContainerStatsFromCRI=${on}`])
  try {
    await sleep(SETTLE_MS, undefined, { signal })
    const before = { kubelet: usageOf(node.pid), runtime: runtimeUsage(node.containerd.dir) }
    const began = performance.now()
    while (performance.now() - began < windowMs) {
      for (const path of paths) await node.ask(path)
      await sleep(INTERVAL_MS, undefined, { signal })
    }
    const minutes = (performance.now() - began) / 60_000
    const after = { kubelet: usageOf(node.pid), runtime: runtimeUsage(node.containerd.dir) }
    const part = (which: 'kubelet' | 'runtime'): Usage => ({
      cpuS: (after[which].cpuS - before[which].cpuS) / minutes,
      rssMiB: after[which].rssMiB,
    })
    return { on, kubelet: part('kubelet'), runtime: part('runtime') }
  } finally {
    await node.stop()
  }
}

const mean = (costs: readonly GateCost[], on: boolean): GateCost => {
  const own = costs.filter((c) => c.on === on)
  const of = (pick: (c: GateCost) => number): number =>
    own.reduce((sum, c) => sum + pick(c), 0) / Math.max(1, own.length)
  return {
    on,
    kubelet: { cpuS: of((c) => c.kubelet.cpuS), rssMiB: of((c) => c.kubelet.rssMiB) },
    runtime: { cpuS: of((c) => c.runtime.cpuS), rssMiB: of((c) => c.runtime.rssMiB) },
  }
}

/** Off, on, off, on: what drifts meets both. */
export async function measureGate(
  node: PodNode,
  windowMs: number,
  signal: AbortSignal,
): Promise<{ readonly off: GateCost; readonly on: GateCost }> {
  const costs: GateCost[] = []
  for (const on of [false, true, false, true]) costs.push(await measure(node, on, windowMs, signal))
  return { off: mean(costs, false), on: mean(costs, true) }
}
