// `memory-pressure`: the benchmark that KEP-2570 asks for before Beta. Boots a small machine, keeps it under pressure with
// requests near its capacity, and compares feature off, throttling only, HardReservation and TieredReservation, each with
// and without swap. BENCH_BED=qemu adds stall times, which need a kernel with PSI.
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { hogProgram } from '../../src/lab/images/programs.js'
import { machineNames } from '../../src/lab/machine.js'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { bundleForLab } from '../bundle-for-lab.js'
import type { BenchReport, BenchTarget, BenchUnit } from '../unit.js'
import { writePage } from './page.js'
import { memoryMiB, type RunResult, type Stall } from './scene.js'

const diskMiB = [400, 1024]
const timeoutS = 1500

async function runInMachine(
  machine: (typeof machineNames)[number],
  signal: AbortSignal,
): Promise<readonly RunResult[]> {
  const out = mkdtempSync(join(tmpdir(), 'keelson-pressure-'))
  try {
    const module = join(out, 'inside.mjs')
    await bundleForLab(resolve(import.meta.dirname, 'inside.ts'), module)
    writeFileSync(join(out, 'hog'), hogProgram(), { mode: 0o755 })
    const disks = diskMiB.map((mib, i) => {
      const file = join(out, `disk${i}.img`)
      writeFileSync(file, '')
      truncateSync(file, mib * 1024 * 1024)
      return file
    })
    const env = process.env['BENCH_SECONDS']
    const outcome = await runLab(
      labRequest({
        machine,
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
    if (exitCodeOf(outcome) !== 0) throw new Error(`the machine ended with ${JSON.stringify(outcome)}`)
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
        ((w.passes * 60) / r.seconds).toFixed(0),
        String(w.throttled),
        String(w.oomKills),
        ...stallCells(w.stall),
      ]),
      [
        mode,
        `node: ${(r.latestMs / 1000).toFixed(1)} s late`,
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
  const killed = results
    .filter((r) => r.mode !== 'off')
    .flatMap((r) => r.workloads.filter((w) => w.name === 'db'))
    .reduce((sum, w) => sum + w.oomKills, 0)
  return [
    ...[false, true].flatMap((swap) => {
      const hard = keptOf(results, 'HardReservation', swap, 'web')
      const off = keptOf(results, 'off', swap, 'web')
      const where = swap ? 'with swap' : 'without swap'
      return [
        {
          name: `page cache of web with HardReservation, ${where}`,
          measured: percent(hard),
          limit: '>= 60 %',
          met: hard >= 0.6,
        },
        {
          name: `the same, against off, ${where}`,
          measured: `${percent(hard)} against ${percent(off)}`,
          limit: 'more',
          met: hard > off,
        },
      ]
    }),
    {
      name: 'OOM kills of the Guaranteed db, throttling only and both policies',
      measured: String(killed),
      limit: '0',
      met: killed === 0,
    },
  ]
}

const most = (values: readonly number[]): number => Math.max(...values)

function methodOf(machine: string, results: readonly RunResult[], psi: boolean): string {
  const capacity = results[0]?.capacityMiB ?? 0
  const min = most(results.map((r) => r.minMiB))
  const low = most(results.map((r) => r.lowMiB))
  return [
    `A ${machine} machine with ${capacity} MiB and more demand than that: about 1,020 MiB, and what the system itself uses. HardReservation protects ${min} MiB (${percent(min / capacity)}) with memory.min; TieredReservation ${low} MiB of that with memory.low only.`,
    '* db: Guaranteed, 100 MiB of anonymous memory, touched five times a second.\n* web: Burstable, reads a file of 170 MiB, rests for a second, and again.\n* api: Burstable without a limit, 95 MiB anonymous.\n* batch: Burstable with a request of 60 MiB, wants 235 MiB; its memory.high is 222.\n* noise: BestEffort, comes last and wants 420 MiB.',
    `The values are written by the engine of keelson, which finds the processes in cgroups of a kubelet's shape; oom_score_adj is what a kubelet sets; a killed workload is started again; with swap, every pod may swap. Once noise has been killed for the first time or has had all it wants, ${secondsOf()} s are measured (up to ${most(results.map((r) => r.seconds)).toFixed(0)} where the machine came late): the share of its memory that a workload has (mean; page cache of web, resident anonymous memory of the others), its passes over it a minute, its throttle events${psi ? '; seconds in which some and in which all of its tasks waited for memory, and the mean of PSI some avg10 in percent' : ''}. OOM kills count from the start. The line of the node has all kills and by how much a timer of an unprotected process came late at most${psi ? ', and the PSI of the machine' : ''}.`,
  ].join('\n\n')
}

const secondsOf = (): string => process.env['BENCH_SECONDS'] ?? '25'

async function measure(signal: AbortSignal): Promise<BenchReport> {
  const machine = machineNames.find((name) => name === (process.env['BENCH_BED'] ?? 'uml')) ?? 'uml'
  const results = await runInMachine(machine, signal)
  const psi = results.some((r) => r.stall !== undefined)
  const command = 'npm run bench -- memory-pressure'
  const report: BenchReport = {
    file: machine === 'uml' ? 'memory-pressure' : `memory-pressure-${machine}`,
    title: `Memory QoS under sustained pressure, ${machine} machine`,
    method: methodOf(machine, results, psi),
    command: machine === 'uml' ? command : `BENCH_BED=${machine} ${command}`,
    columns: [
      'mode',
      'workload',
      'kept',
      'passes/min',
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
    'Memory QoS under sustained pressure, off and in each policy, with and without swap (boots a lab machine)',
  run: measure,
}
