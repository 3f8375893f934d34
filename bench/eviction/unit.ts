// `eviction`: a machine of 1 GiB in which one pod grows until it is evicted or killed, with Memory QoS off and on.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { bundleForLab } from '../bundle-for-lab.js'
import { type BenchReport, type BenchTarget, type BenchUnit, median } from '../unit.js'
import { plot } from './plot.js'
import { type Mode, memoryMiB, modes, type RunResult, rates, scenes, thresholdMiB } from './scene.js'

const timeoutS = 1800

async function runInMachine(mode: Mode, signal: AbortSignal): Promise<readonly RunResult[]> {
  const out = mkdtempSync(join(tmpdir(), 'keelson-eviction-'))
  try {
    const module = join(out, 'inside.mjs')
    await bundleForLab(resolve(import.meta.dirname, 'inside.ts'), module)
    execFileSync('gcc', ['-static', '-O1', '-o', join(out, 'grow'), join(import.meta.dirname, 'grow.c')], {
      stdio: 'inherit',
    })
    const outcome = await runLab(
      labRequest({
        machine: 'uml',
        argv: [process.execPath, module],
        out,
        containerd: { systemdCgroup: false },
        memoryMiB,
        timeoutS,
        env: { BENCH_MODE: mode, BENCH_RUNS: process.env['BENCH_RUNS'] ?? '2' },
      }),
      { stdout: process.stderr, stderr: process.stderr },
      signal,
    )
    if (exitCodeOf(outcome) !== 0) throw new Error(`the machine ended with ${JSON.stringify(outcome)}`)
    return JSON.parse(readFileSync(join(out, 'eviction.json'), 'utf8')) as RunResult[]
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const rowsOf = (results: readonly RunResult[]): string[][] =>
  modes.flatMap((mode) =>
    scenes.flatMap((scene) =>
      rates.map((rate) => {
        const runs = results.filter((r) => r.mode === mode && r.scene === scene.name && r.rate === rate)
        const ended = runs.flatMap((r) => (r.endedMs === undefined ? [] : [r.endedMs]))
        return [
          scene.name,
          mode,
          String(rate),
          String(runs.length),
          String(runs.filter((r) => r.first === 'eviction').length),
          String(runs.filter((r) => r.first === 'OOM killer').length),
          String(runs.flatMap(wrongly).length),
          String(median(runs.map((r) => r.leastMiB))),
          ended.length === 0 ? '' : (median(ended) / 1000).toFixed(1),
        ]
      }),
    ),
  )

/** Evictions of pods that had to stay. */
const wrongly = (r: RunResult): readonly string[] => r.evicted.filter((name) => name !== r.grower)
const lost = (r: RunResult, name: string): number =>
  (r.restarts[name] ?? 0) + [...r.evicted, ...r.oomKilled].filter((pod) => pod === name).length

function targetsOf(results: readonly RunResult[]): readonly BenchTarget[] {
  const sum = (of: (r: RunResult) => number): number => results.reduce((all, r) => all + of(r), 0)
  const none = (name: string, count: number): BenchTarget => ({
    name,
    measured: String(count),
    limit: '0',
    met: count === 0,
  })
  return [
    none(
      'evictions of another pod than the one that exceeds its request the most',
      sum((r) => wrongly(r).length),
    ),
    none(
      'evictions, OOM kills and restarts of the Guaranteed database',
      sum((r) => lost(r, 'database')),
    ),
    none(
      'evictions, OOM kills and restarts of the pod below its request',
      sum((r) => lost(r, 'below')),
    ),
    none(
      'runs in which neither eviction nor the OOM killer acted',
      sum((r) => Number(r.first === 'neither')),
    ),
  ]
}

const method = (results: readonly RunResult[]): string => {
  const byKernel = (mode: string): number =>
    results.filter((r) => r.mode === mode && r.first === 'OOM killer').length
  const count = (mode: string): number => results.filter((r) => r.mode === mode).length
  return [
    `A UML machine with ${memoryMiB} MiB and cgroup v2, containerd and the real kubelet with \`evictionHard: {memory.available: ${thresholdMiB}Mi}\` and \`evictStaticPods: true\`; "on" is the gate MemoryQoS with TieredReservation and factor 0.9. Four pods: a Guaranteed database, a Burstable pod below its request, which has the most memory at first, a Burstable one above its request, and a BestEffort hog. One of the last two grows, by so many MiB a second, until it is evicted or the kernel kills it; it ignores SIGTERM. The hog is the pod to evict where it grows, and so is the Burstable pod where that one grows: each exceeds its request the most by then.`,
    `The OOM killer came before the end of the eviction in ${modes.map((m) => `${byKernel(m)} of ${count(m)} runs with Memory QoS ${m}`).join(' and in ')}: a pod that grows fast enough is killed by the kernel under any kubelet. The columns are medians of the runs: the least memory that was available, and the seconds from the decision to the end of the evicted pod, of which one is its grace period.`,
    '![Who acted first, by how fast the pod grows](../../docs/eviction.svg)',
  ].join('\n\n')
}

/** Of both modes; BENCH_MODE=off or on measures one of them anew. */
const runsFile = resolve(import.meta.dirname, '../results/eviction.json')

function withEarlier(fresh: readonly RunResult[]): readonly RunResult[] {
  const earlier = existsSync(runsFile) ? (JSON.parse(readFileSync(runsFile, 'utf8')) as RunResult[]) : []
  const measured = new Set(fresh.map((r) => r.mode))
  const all = [...earlier.filter((r) => !measured.has(r.mode)), ...fresh]
  writeFileSync(runsFile, `[\n${all.map((r) => JSON.stringify(r)).join(',\n')}\n]\n`)
  return all
}

async function measure(signal: AbortSignal): Promise<BenchReport> {
  let results: readonly RunResult[] = []
  for (const mode of modes.filter((one) => one === (process.env['BENCH_MODE'] ?? one)))
    results = withEarlier(await runInMachine(mode, signal))
  writeFileSync(resolve(import.meta.dirname, '../../docs/eviction.svg'), plot(results))
  return {
    file: 'eviction',
    title: 'Eviction and the OOM killer on a machine of 1 GiB',
    method: method(results),
    columns: [
      'scene',
      'Memory QoS',
      'MiB/s',
      'runs',
      'evicted',
      'OOM first',
      'wrong pod',
      'least MiB',
      'ended s',
    ],
    rows: rowsOf(results),
    targets: targetsOf(results),
  }
}

export const eviction: BenchUnit = {
  name: 'eviction',
  summary:
    'which pod goes, and whether eviction or the OOM killer comes first, with Memory QoS off and on (boots a lab machine)',
  run: measure,
}
