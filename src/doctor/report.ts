// The doctor's report for people and for programs. Passed checks stay short.
import type { Finding, Severity } from './check.js'
import type { DoctorFacts } from './facts.js'
import type { CheckAnswer, Report } from './run-checks.js'

interface ReportOptions {
  /** Also what was seen where all is well. */
  readonly verbose: boolean
  /** Colours the word of a severity on a terminal. */
  readonly paint?: (severity: Severity, word: string) => string
}

const nameWidth = 20
const indent = ' '.repeat(9)
const answerWidth = 100

export function formatReport(report: Report, facts: DoctorFacts, options: ReportOptions): string {
  const lines = [headline(facts), '']
  for (const answer of report.answers) lines.push(...formatAnswer(answer, options))
  return `${[...lines, '', summary(report)].join('\n')}\n`
}

function headline({ host, cgroups, runtime }: DoctorFacts): string {
  const words = [
    `node ${host.hostname}`,
    `kernel ${host.kernelRelease ?? 'unknown'}`,
    cgroups === undefined ? 'no cgroups' : `cgroup ${cgroups.mode}`,
    runtime === undefined ? 'no runtime' : `${runtime.name} ${runtime.version}`,
  ]
  return words.join(', ')
}

const shown: Readonly<Record<Severity, string>> = {
  ok: 'ok',
  skipped: '-',
  info: 'info',
  warn: 'WARN',
  error: 'ERROR',
}

function formatAnswer(
  { name, asks, severity, findings, page }: CheckAnswer,
  options: ReportOptions,
): string[] {
  const paint = options.paint ?? ((_, word) => word)
  const line = (s: Severity, text: string): string =>
    `${paint(s, shown[s].padEnd(6))} ${name.padEnd(nameWidth)} ${text}`
  if (severity === 'ok') {
    const seen = findings.flatMap((f) => f.evidence)
    if (options.verbose) return [line('ok', asks), ...seen.map((e) => `${indent}seen ${e}`)]
    return [line('ok', answerOf(seen) ?? asks)]
  }
  const worth = findings.filter((f) => f.severity !== 'ok')
  return [
    ...worth.flatMap((f) => [line(f.severity, f.message), ...details(f)]),
    ...(severity === 'warn' || severity === 'error'
      ? [`${indent}page ${page} (keelson doctor explain ${name})`]
      : []),
  ]
}

/** What was seen, on one line; a question that has passed tells nothing. */
function answerOf([first, ...rest]: readonly string[]): string | undefined {
  if (first === undefined) return undefined
  const all = [first, ...rest].join('; ')
  if (all.length <= answerWidth) return all
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more with --verbose)`
  return `${first.length <= answerWidth ? first : `${first.slice(0, answerWidth - 1)}…`}${more}`
}

const details = ({ evidence, remedy, severity }: Finding): string[] =>
  severity === 'skipped'
    ? []
    : [
        ...evidence.map((e) => `${indent}seen ${e}`),
        ...(remedy === undefined ? [] : [`${indent}do   ${remedy}`]),
      ]

const many = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`

function summary({ answers, counts }: Report): string {
  const parts = [
    many(counts.error, 'error'),
    many(counts.warn, 'warning'),
    many(counts.info, 'note'),
    `${counts.ok} passed`,
    `${counts.skipped} skipped`,
  ]
  return `${many(answers.length, 'check')}: ${parts.join(', ')}`
}

/** The JSON report; amounts are text in the evidence. */
export const reportValue = (report: Report, facts: DoctorFacts): object => ({
  node: facts.host.hostname,
  kernel: facts.host.kernelRelease ?? null,
  cgroup: facts.cgroups?.mode ?? null,
  runtime: facts.runtime ?? null,
  endpoint: facts.endpoint,
  counts: report.counts,
  checks: report.answers.map((a) => ({
    ...a,
    findings: a.findings.map((f) => ({ ...f, remedy: f.remedy ?? null })),
  })),
})
