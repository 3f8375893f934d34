// `memory-pressure`: the benchmark that KEP-2570 asks for before Beta. Boots a small machine, keeps it under pressure with
// requests near its capacity, and compares feature off, throttling only, HardReservation and TieredReservation, each with
// and without swap. BENCH_BED=qemu adds stall times, which need a kernel with PSI.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bedNames } from '../../src/lab/bed.js'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run.js'
import { bundleForBed } from '../bundle-for-bed.js'
import { formatReport } from '../report.js'
import type { BenchReport, BenchTarget, BenchUnit } from '../unit.js'
import { plot } from './plot.js'
import type { RunResult } from './scene.js'

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

function rowsOf(results: readonly RunResult[]): string[][] {
  return results.flatMap((r) =>
    r.workloads.map((w) => [
      `${r.mode}${r.swap ? ', swap' : ''}`,
      w.name,
      percent(w.keptShare),
      String(w.passes),
      String(w.throttled),
      String(w.oomKills),
      ...(w.stallS === null ? [] : [w.stallS.toFixed(1)]),
    ]),
  )
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

async function measure(signal: AbortSignal): Promise<BenchReport> {
  const bed = bedNames.find((name) => name === (process.env['BENCH_BED'] ?? 'uml')) ?? 'uml'
  const results = await runInBed(bed, signal)
  const file = bed === 'uml' ? 'memory-pressure' : `memory-pressure-${bed}`
  const [one] = results
  const psi = results.some((r) => r.workloads.some((w) => w.stallS !== null))
  const report: BenchReport = {
    file,
    title: 'Memory QoS under sustained pressure',
    method: `A ${bed} machine with ${one?.capacityMiB ?? 0} MiB. Requests protect ${Math.max(...results.map((r) => r.protectedMiB))} MiB by memory.min; the workloads want about 1,700 MiB. db: Guaranteed, anonymous memory. web: Burstable, reads a file over and over. api: Burstable, anonymous. batch: Burstable, more than its memory.high. noise: BestEffort, comes last and wants 700 MiB. Once hardly a page is free, the pressure lasts ${process.env['BENCH_SECONDS'] ?? '25'} s. In that time: share of its memory that a workload has (mean), passes over it, throttle events, OOM kills${psi ? ', seconds stalled for memory' : ''}. A killed workload is started again.`,
    columns: ['mode', 'workload', 'kept', 'passes', 'throttled', 'OOM kills', ...(psi ? ['stall s'] : [])],
    rows: rowsOf(results),
    targets: targetsOf(results),
  }
  if (bed === 'uml') writePage(report, results)
  return report
}

/** The page of the KEP's benchmark: plot and table, with the command that makes both. */
function writePage(report: BenchReport, results: readonly RunResult[]): void {
  const docs = (name: string): string => resolve(import.meta.dirname, '../../docs', name)
  writeFileSync(docs('memory-pressure.svg'), plot(results))
  const [title = '', ...rest] = formatReport(report, 'npm run bench -- memory-pressure').split('\n')
  const picture = '![share of memory kept under pressure](memory-pressure.svg)'
  writeFileSync(docs('memory-pressure.md'), [title, '', picture, ...rest].join('\n'))
}

export const memoryPressure: BenchUnit = {
  name: 'memory-pressure',
  summary:
    'Memory QoS under sustained pressure, off and in each policy, with and without swap (boots a lab bed)',
  run: measure,
}
