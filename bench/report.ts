// A report as a Markdown page: what the terminal shows and what is kept in bench/results is the same text.
import { arch, cpus, release } from 'node:os'
import type { BenchReport } from './unit.js'

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((c, i) => Math.max(c.length, ...rows.map((row) => (row[i] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((w, i) => (i === 0 ? (cells[i] ?? '').padEnd(w) : (cells[i] ?? '').padStart(w))).join(' | ')} |`
  const rule = line(widths.map((w, i) => (i === 0 ? '-'.repeat(w) : `${'-'.repeat(w - 1)}:`)))
  return [line(columns), rule, ...rows.map(line)].join('\n')
}

export function formatReport(report: BenchReport, command: string): string {
  const targets = report.targets.map((t) => [t.name, t.measured, t.limit, t.met ? 'met' : 'MISSED'])
  const machine = `node ${process.version}, Linux ${release()} ${arch()}, ${cpus().length} x ${cpus()[0]?.model.trim() || 'unknown CPU'}`
  return [
    `# ${report.title}`,
    '',
    report.method,
    '',
    `Command: \`${command}\`. Machine: ${machine}.`,
    '',
    table(report.columns, report.rows),
    '',
    ...(targets.length === 0 ? [] : [table(['target', 'measured', 'limit', ''], targets), '']),
  ].join('\n')
}
