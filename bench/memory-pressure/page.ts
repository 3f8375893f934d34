// docs/memory-pressure.md: the plots and tables of every machine that was measured, newest of each, with the commands.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatReport } from '../report.js'
import type { BenchReport } from '../unit.js'
import { type Bar, type PlotOf, plot } from './plot.js'
import type { RunResult, Stall } from './scene.js'

const docs = (name: string): string => resolve(import.meta.dirname, '../../docs', name)
const resultsOf = (file: string): string => resolve(import.meta.dirname, '../results', `${file}.md`)
/** In this order on the page. */
const files = ['memory-pressure', 'memory-pressure-qemu']

const kept: PlotOf = {
  title: 'memory kept under pressure',
  groups: (r) => new Map(r.workloads.map((w) => [w.name, { share: w.keptShare, oomKills: w.oomKills }])),
}
const stalled: PlotOf = {
  title: 'time in which some task waited for memory (PSI)',
  groups: (r) => {
    const bar = (stall: Stall | undefined, oomKills: number): Bar => ({
      share: (stall?.someS ?? 0) / r.seconds,
      oomKills,
    })
    return new Map([
      ...r.workloads.map((w): [string, Bar] => [w.name, bar(w.stall, w.oomKills)]),
      ['node', bar(r.stall, 0)],
    ])
  },
}

const heading = `# The benchmark that KEP-2570 asks for before Beta

Sustained memory pressure with the sum of memory.min near capacity, with Memory QoS off, throttling only, HardReservation and
TieredReservation, each without and with swap. [Memory QoS](memory-qos.md#measurements) explains the results. Red numbers in
the plots are OOM kills.
`

/** One section of the page: the report without its title, below the plot. */
const section = (file: string, report: string): string => {
  const [title = '', ...rest] = report.split('\n')
  return [`#${title}`, '', `![${title.slice(2)}](${file}.svg)`, ...rest].join('\n')
}

export function writePage(report: BenchReport, results: readonly RunResult[]): void {
  const psi = results.some((r) => r.stall !== undefined)
  writeFileSync(docs(`${report.file}.svg`), plot(results, psi ? stalled : kept))
  const sections = files.flatMap((file) => {
    if (file === report.file) return [section(file, formatReport(report, report.command ?? ''))]
    return existsSync(resultsOf(file)) ? [section(file, readFileSync(resultsOf(file), 'utf8'))] : []
  })
  writeFileSync(docs('memory-pressure.md'), [heading, ...sections].join('\n'))
}
