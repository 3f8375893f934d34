// The page of the probes: what the kubelet used, and how late its probes came.
import { percentile } from '../kubelet/measures.js'
import { type PartName, totalOf } from '../kubelet/usage.js'
import { atMost, type BenchReport, type BenchTarget, median } from '../unit.js'
import type { ProbeTurn, Stack } from './inside.js'
import { type Kind, kinds } from './server.js'

interface PageOptions {
  readonly command: string
  readonly pods: number
  readonly execPods: number
  readonly turns: number
  readonly load: number
}

const titles: Readonly<Record<Kind, string>> = { http: 'httpGet', grpc: 'grpc', exec: 'exec' }
/** Late enough to matter to no probe, whose shortest period is a second. */
const LATE_MS = 100

export function formatProbes(turns: readonly ProbeTurn[], o: PageOptions): BenchReport {
  const of = (stack: Stack): readonly ProbeTurn[] => turns.filter((t) => t.stack === stack)
  const cpu = (stack: Stack, part?: PartName): number =>
    median(
      of(stack).map((t) => {
        const { cpuS } = part === undefined ? totalOf(t.usage) : t.usage[part]
        return (cpuS * 60_000) / t.windowMs
      }),
    )
  const late = (stack: Stack, kind: Kind, share: number): number =>
    percentile(
      of(stack).flatMap((t) => t.probes[kind].lateness),
      share,
    )
  const perSecond = (stack: Stack, kind: Kind): number =>
    median(of(stack).map((t) => (t.probes[kind].count * 1000) / t.windowMs))
  const row = (name: string, value: (stack: Stack) => number, format: (v: number) => string): string[] => {
    const [base, own] = [value('upstream'), value('keelson')]
    return [name, format(base), format(own), base === 0 ? '' : `${(own / base).toFixed(2)}x`]
  }
  const seconds = (v: number): string => `${v.toFixed(2)} s/min`
  const ms = (v: number): string => `${v.toFixed(1)} ms`
  const inTime = (kind: Kind): BenchTarget => {
    const [base, own] = [late('upstream', kind, 0.99), late('keelson', kind, 0.99)]
    const limit = Math.max(base, LATE_MS)
    return {
      name: `${titles[kind]}, lateness p99, Keelson`,
      measured: ms(own),
      limit: `<= ${ms(limit)}`,
      met: own <= limit,
    }
  }
  return {
    file: 'probes',
    title: 'Probes: Keelson beside the upstream kubelet',
    command: o.command,
    method: [
      `Both kubelets in turns on the same containerd 2, in one node environment of private namespaces on this host: ${o.pods} static pods with an httpGet liveness and a grpc readiness probe each second, and ${o.execPods} with an exec probe every 10 s. ${o.turns} turns each; CPU is the median, lateness is over all turns. Load average of the machine before the run: ${o.load.toFixed(1)}.`,
      'The pods are in the network of the host, where one server answers every probe and notes when it arrives. Lateness: the time since the request of the same probe before, less the period, and never less than 0; for exec it includes the start of the command.',
      'CPU per minute of the processes themselves; shims are with the runc and the commands that they run.',
    ].join(' '),
    columns: ['what', 'upstream kubelet', 'Keelson', 'ratio'],
    rows: [
      row('CPU of the kubelet', (s) => cpu(s, 'kubelet'), seconds),
      row('CPU of containerd', (s) => cpu(s, 'containerd'), seconds),
      row('CPU of shims', (s) => cpu(s, 'shims'), seconds),
      row('CPU of all', (s) => cpu(s), seconds),
      ...kinds.flatMap((kind) => [
        row(
          `${titles[kind]}: probes per second`,
          (s) => perSecond(s, kind),
          (v) => v.toFixed(1),
        ),
        row(`${titles[kind]}: lateness p50`, (s) => late(s, kind, 0.5), ms),
        row(`${titles[kind]}: lateness p99`, (s) => late(s, kind, 0.99), ms),
      ]),
    ],
    targets: [
      atMost(
        'CPU of the kubelet, Keelson against upstream',
        cpu('keelson', 'kubelet') / cpu('upstream', 'kubelet'),
        1,
      ),
      ...kinds.map(inTime),
    ],
  }
}
