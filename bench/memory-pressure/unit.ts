// `memory-pressure`: the benchmark that KEP-2570 asks for before Beta. Boots a small machine, keeps it under pressure with
// requests near its capacity, and compares feature off, throttling only, HardReservation and TieredReservation, each with
// and without swap. BENCH_BED=qemu adds stall times, which need a kernel with PSI.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bedNames } from '../../src/lab/bed.js'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run.js'
import { bundleForBed } from '../bundle-for-bed.js'
import type { BenchReport, BenchTarget, BenchUnit } from '../unit.js'
import { writePage } from './page.js'
import type { RunResult, Stall } from './scene.js'

const memoryMiB = 1024
const diskMiB = [700, 1536]
const timeoutS = 1500

async function runInBed(bed: (typeof bedNames)[number], signal: AbortSignal): Promise<readonly RunResult[]> {
  const out = mkdtempSync(join(tmpdir(), 'keelson-pressure-'))
  try {
    const module = join(out, 'inside.mjs')
    await bundleForBed(resolve(import.meta.dirname, 'inside.ts'), module)
    const disks = diskMiB.map((mib, i) => {
      const file = join(out, `disk${i}.img`)
      writeFileSync(file, '')
      truncateSync(file, mib * 1024 * 1024)
      return file
    })
    const env = process.env['BENCH_SECONDS']
    const outcome = await runLab(
      labRequest({
        bed,
        argv: [process.execPath, module],
        out,
        disks,
        memoryMiB,
        timeoutS,
        env: env === undefined ? {} : { BENCH_SECONDS: env },
      }),
      { stdout: process.stderr, stderr: process.stderr },
      signal,
    )
    if (exitCodeOf(outcome) !== 0) throw new Error(`the bed ended with ${JSON.stringify(outcome)}`)
    return JSON.parse(readFileSync(join(out, 'memory-pressure.json'), 'utf8')) as RunResult[]
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

const stallCells = (stall: Stall | undefined): string[] =>
  stall === undefined ? [] : [stall.someS.toFixed(1), stall.fullS.toFixed(1), stall.avg10.toFixed(0)]

function rowsOf(results: readonly RunResult[]): string[][] {
  return results.flatMap((r) => {
    const mode = `${r.mode}${r.swap ? ', swap' : ''}`
    const kills = r.workloads.reduce((sum, w) => sum + w.oomKills, 0)
    return [
      ...r.workloads.map((w) => [
        mode,
        w.name,
        percent(w.keptShare),
        String(w.passes),
        String(w.throttled),
        String(w.oomKills),
        ...stallCells(w.stall),
      ]),
      [
        mode,
        `node, ${(r.latestMs / 1000).toFixed(1)} s late`,
        '',
        '',
        '',
        String(kills),
        ...stallCells(r.stall),
      ],
    ]
  })
}

const keptOf = (results: readonly RunResult[], mode: string, swap: boolean, name: string): number =>
  results.find((r) => r.mode === mode && r.swap === swap)?.workloads.find((w) => w.name === name)
    ?.keptShare ?? 0

function targetsOf(results: readonly RunResult[]): readonly BenchTarget[] {
  const hard = keptOf(results, 'HardReservation', true, 'web')
  const off = keptOf(results, 'off', true, 'web')
  const killed = results
    .filter((r) => r.mode === 'HardReservation')
    .flatMap((r) => r.workloads.filter((w) => w.name === 'db' && w.oomKills > 0)).length
  return [
    {
      name: 'page cache of web kept with HardReservation, swap',
      measured: percent(hard),
      limit: '>= 60 %',
      met: hard >= 0.6,
    },
    {
      name: 'page cache of web: HardReservation against off, swap',
      measured: `${percent(hard)} against ${percent(off)}`,
      limit: 'more',
      met: hard > off,
    },
    { name: 'OOM kills of db with HardReservation', measured: String(killed), limit: '0', met: killed === 0 },
  ]
}

const most = (values: readonly number[]): number => Math.max(...values)

function methodOf(bed: string, results: readonly RunResult[], psi: boolean): string {
  const min = most(results.map((r) => r.minMiB))
  const low = most(results.map((r) => r.lowMiB))
  return [
    `A ${bed} machine with ${results[0]?.capacityMiB ?? 0} MiB and more demand than that: about 1,700 MiB. HardReservation protects ${min} MiB of it with memory.min, TieredReservation ${low} MiB with memory.low and the rest with memory.min.`,
    'db: Guaranteed, 180 MiB of anonymous memory. web: Burstable, reads a file of 280 MiB over and over. api: Burstable, 160 MiB anonymous, no limit. batch: Burstable, wants 380 MiB and has its memory.high at 370. noise: BestEffort, comes last and wants 700 MiB.',
    `The values are written by the engine of keelson; oom_score_adj is what a kubelet sets; a killed workload is started again. Once hardly a page is free, ${secondsOf()} s are measured: the share of its memory that a workload has (mean; page cache of web, anonymous memory of the others), its passes over it, its throttle events${psi ? '; seconds in which some and in which all of its tasks waited for memory, and the mean of PSI some avg10 in percent' : ''}. OOM kills count from the start. The line of the node has all kills and by how much a timer of an unprotected process came late at most${psi ? ', and the PSI of the machine' : ''}.`,
  ].join('\n\n')
}

const secondsOf = (): string => process.env['BENCH_SECONDS'] ?? '25'

async function measure(signal: AbortSignal): Promise<BenchReport> {
  const bed = bedNames.find((name) => name === (process.env['BENCH_BED'] ?? 'uml')) ?? 'uml'
  const results = await runInBed(bed, signal)
  const psi = results.some((r) => r.stall !== undefined)
  const command = 'npm run bench -- memory-pressure'
  const report: BenchReport = {
    file: bed === 'uml' ? 'memory-pressure' : `memory-pressure-${bed}`,
    title: `Memory QoS under sustained pressure, ${bed} bed`,
    method: methodOf(bed, results, psi),
    command: bed === 'uml' ? command : `BENCH_BED=${bed} ${command}`,
    columns: [
      'mode',
      'workload',
      'kept',
      'passes',
      'throttled',
      'OOM kills',
      ...(psi ? ['some s', 'full s', 'avg10 %'] : []),
    ],
    rows: rowsOf(results),
    targets: targetsOf(results),
  }
  writePage(report, results)
  return report
}

export const memoryPressure: BenchUnit = {
  name: 'memory-pressure',
  summary:
    'Memory QoS under sustained pressure, off and in each policy, with and without swap (boots a lab bed)',
  run: measure,
}
