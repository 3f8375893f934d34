// `binding`: from the binding of a pod to its phase Running, as a watch of the API server shows both: the upstream kubelet and
// Keelson in turns as the kubelet of the same node of a real control plane. As root; about 10 minutes.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { missingForCluster } from '../../conformance/cluster/prepare.js'
import { clusterPeers, startCluster } from '../../conformance/cluster/start-cluster.js'
import { insideDirectory } from '../../conformance/node-environment/plan.js'
import { inCache } from '../../conformance/node-environment/programs.js'
import { buildBenchPeers } from '../peers.js'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'
import type { BindingOptions } from './inside.js'

/** Fewer only while the benchmark itself is worked on; the page then names them in its command. */
const defaults = { BINDING_TURNS: 4, BINDING_PODS: 30 } as const
type Setting = keyof typeof defaults
const settingOf = (name: Setting): number => Number(process.env[name] ?? defaults[name])
const changed = (Object.keys(defaults) as Setting[]).filter((name) => settingOf(name) !== defaults[name])
const command = [...changed.map((name) => `${name}=${settingOf(name)}`), 'npm run bench -- binding'].join(' ')

const log = (line: string): void => console.error(`binding: ${line}`)

/** Turns of each kubelet, in milliseconds. */
type Measured = Readonly<Record<'upstream' | 'keelson', readonly (readonly number[])[]>>

async function run(signal: AbortSignal): Promise<BenchReport> {
  const missing = missingForCluster()
  if (missing !== undefined) throw new Error(missing)
  const peers = await buildBenchPeers(clusterPeers, log)
  const inside: BindingOptions = {
    kubelets: { upstream: inCache(peers.peer('kubelet')), keelson: join(insideDirectory, 'bin/kubelet') },
    turns: settingOf('BINDING_TURNS'),
    pods: settingOf('BINDING_PODS'),
    results: join(insideDirectory, 'out/binding.json'),
  }
  const cluster = await startCluster({
    kubelet: 'keelson',
    runtime: 'containerd-2',
    auditLog: false,
    port: 0,
    ...peers,
    program: join(import.meta.dirname, 'inside.ts'),
    argv: [process.execPath, join(insideDirectory, 'program.mjs'), JSON.stringify(inside)],
    onOutput: (text) => process.stderr.write(text),
    leftovers: [],
  })
  const stop = (): void => void cluster.close().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    const status = await cluster.ended
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`the run inside the cluster ended with status ${status}`)
    return report(JSON.parse(await readFile(join(cluster.out, 'binding.json'), 'utf8')) as Measured)
  } finally {
    signal.removeEventListener('abort', stop)
    await cluster.close()
  }
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * part) - 1)] ??
  Number.NaN

function report(measured: Measured): BenchReport {
  const [upstream, keelson] = [measured.upstream.flat(), measured.keelson.flat()]
  const ms = (value: number): string => value.toFixed(0)
  const row = (title: string, of: (values: readonly number[]) => number): readonly string[] => [
    title,
    ms(of(upstream)),
    ms(of(keelson)),
    `${(of(keelson) / of(upstream)).toFixed(2)}x`,
  ]
  const p99 = (values: readonly number[]): number => percentile(values, 0.99)
  return {
    file: 'binding',
    title: 'From the binding of a pod to Running',
    method: `A real control plane and one node with containerd 2.4.2; the upstream kubelet 1.37.1 and Keelson are its kubelet in turns, ${measured.keelson.length} each. In each turn ${measured.keelson[0]?.length ?? 0} pods (a container, the token of their service account) are created one after the other at random moments and bound by the scheduler. One watch gives both times: the event that shows the node in the spec, and the event with phase Running.`,
    command,
    columns: ['milliseconds', 'upstream', 'Keelson', 'ratio'],
    rows: [
      row('p50', median),
      row('p90', (values) => percentile(values, 0.9)),
      row('p99', p99),
      ...measured.keelson.map((values, i) => [
        `p50 of turn ${i + 1}`,
        ms(median(measured.upstream[i] ?? [])),
        ms(median(values)),
        `${(median(values) / median(measured.upstream[i] ?? [])).toFixed(2)}x`,
      ]),
    ],
    targets: [
      atMost('p50, against the upstream kubelet', median(keelson) / median(upstream), 1),
      atMost('p99, against the upstream kubelet', p99(keelson) / p99(upstream), 1),
    ],
  }
}

export const binding: BenchUnit = {
  name: 'binding',
  summary: 'binding of a pod to Running, beside the upstream kubelet in turns (10 min, root)',
  run,
}
