// The KEP's own bound: kubelet and runtime together, with the gate on against the gate off, on the same real pods; and with
// the gate on and `keelson cri` in front of a runtime that was not made for the question.
import { setTimeout as sleep } from 'node:timers/promises'
import { type CriBetween, type PodNode, startBetween } from '../../test/kubelet/node.js'
import { addUsage, containerdParts, noUsage, type Usage, usageOf } from '../process-usage.js'

const INTERVAL_MS = 10_000
/** Programs have compiled what they run often. */
const SETTLE_MS = 45_000
const paths = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary']

export type GateMode = 'off' | 'on' | 'on, keelson cri'

/** Who works: a shim reads the cgroup when containerd is asked for values, so that containerd alone says little. */
const parts = ['kubelet', 'containerd', 'shims', 'server'] as const
type Parts = Readonly<Record<(typeof parts)[number], Usage>>

export interface GateCost extends Parts {
  readonly mode: GateMode
}

export const gateTotal = (cost: Parts): Usage => addUsage(...parts.map((part) => cost[part]))

const byPart = (of: (part: (typeof parts)[number]) => Usage): Parts => ({
  kubelet: of('kubelet'),
  containerd: of('containerd'),
  shims: of('shims'),
  server: of('server'),
})

function now(node: PodNode, between: CriBetween | undefined): Parts {
  const { daemon, shims } = containerdParts(node.containerd.dir)
  const pid = between?.server.process.pid
  return {
    kubelet: usageOf(node.pid),
    containerd: daemon,
    shims,
    server: pid === undefined ? noUsage : usageOf(pid),
  }
}

/** CPU seconds of a minute, memory at its end. */
export async function measureMode(
  node: PodNode,
  mode: GateMode,
  { main, windowMs, signal }: GateOptions,
): Promise<GateCost> {
  const between =
    mode === 'on, keelson cri' ? await startBetween({ main }, node.containerd, node.directory) : undefined
  const through = between === undefined ? [] : [`--container-runtime-endpoint=${between.endpoint}`]
  try {
    await node.start([`--feature-gates=PodAndContainerStatsFromCRI=${mode !== 'off'}`, ...through])
    await sleep(SETTLE_MS, undefined, { signal })
    const before = now(node, between)
    const began = performance.now()
    while (performance.now() - began < windowMs) {
      for (const path of paths) await node.ask(path)
      await sleep(INTERVAL_MS, undefined, { signal })
    }
    const minutes = (performance.now() - began) / 60_000
    const after = now(node, between)
    return {
      mode,
      ...byPart((part) => ({
        cpuS: (after[part].cpuS - before[part].cpuS) / minutes,
        rssMiB: after[part].rssMiB,
      })),
    }
  } finally {
    await node.stop()
    await between?.server.end('SIGTERM')
  }
}

function mean(costs: readonly GateCost[], mode: GateMode): GateCost {
  const own = costs.filter((c) => c.mode === mode)
  return {
    mode,
    ...byPart((part) => {
      const { cpuS, rssMiB } = addUsage(...own.map((c) => c[part]))
      const turns = Math.max(1, own.length)
      return { cpuS: cpuS / turns, rssMiB: rssMiB / turns }
    }),
  }
}

const modes: readonly GateMode[] = ['off', 'on', 'on, keelson cri']

export interface GateOptions {
  readonly main: string
  /** A minute at least: some work is done once in it. */
  readonly windowMs: number
  readonly signal: AbortSignal
}

/** Each mode twice, in turn: what drifts meets all. */
export async function measureGate(node: PodNode, options: GateOptions): Promise<readonly GateCost[]> {
  const costs: GateCost[] = []
  for (const mode of [...modes, ...modes]) costs.push(await measureMode(node, mode, options))
  return modes.map((mode) => mean(costs, mode))
}
