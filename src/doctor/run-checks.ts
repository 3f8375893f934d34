// Runs checks over facts and puts their answers together. Which checks there are is checks/index.ts.
import { keelsonError } from '../core/errors.js'
import { didYouMean } from '../core/units/nearest-name.js'
import type { Check, Finding, Severity } from './check.js'

export interface CheckAnswer {
  readonly name: string
  readonly asks: string
  /** That of the worst finding. */
  readonly severity: Severity
  readonly findings: readonly Finding[]
  /** Where the finding is explained, from the repository's root. */
  readonly page: string
}

export interface Report {
  readonly answers: readonly CheckAnswer[]
  readonly counts: Readonly<Record<Severity, number>>
}

const order: readonly Severity[] = ['ok', 'skipped', 'info', 'warn', 'error']

const listOf = (found: Finding | readonly Finding[]): readonly Finding[] =>
  'severity' in found ? [found] : found

/** The first of the worst. A check that finds nothing at all has a good answer. */
export const worstOf = (found: Finding | readonly Finding[]): Finding =>
  listOf(found).reduce<Finding>(
    (worst, f) => (order.indexOf(f.severity) > order.indexOf(worst.severity) ? f : worst),
    listOf(found)[0] ?? { severity: 'ok', message: '', evidence: [], remedy: undefined },
  )

export const pageOf = (check: string): string => `docs/doctor/${check}.md`

export function runChecks<F>(checks: readonly Check<F>[], facts: F): Report {
  const answers = checks.map((check): CheckAnswer => {
    const findings = listOf(check.run(facts))
    const { severity } = worstOf(findings)
    return { name: check.name, asks: check.asks, severity, findings, page: pageOf(check.name) }
  })
  const count = (severity: Severity): number => answers.filter((a) => a.severity === severity).length
  return {
    answers,
    counts: {
      ok: count('ok'),
      skipped: count('skipped'),
      info: count('info'),
      warn: count('warn'),
      error: count('error'),
    },
  }
}

/** `only` and `skip` are names; one that does not exist is a mistake that would hide a finding. */
export function selectChecks<F>(
  checks: readonly Check<F>[],
  { only, skip }: { readonly only: readonly string[]; readonly skip: readonly string[] },
): readonly Check<F>[] {
  const known = checks.map((c) => c.name)
  for (const name of [...only, ...skip])
    if (!known.includes(name))
      throw keelsonError('usage.invalid', `unknown check ${name}${didYouMean(name, known)}; see --list`, {
        name,
      })
  return checks.filter((c) => (only.length === 0 || only.includes(c.name)) && !skip.includes(c.name))
}

/** 1 and 2 are a doctor that failed and a command line that is wrong, as with every command. */
export const exitStatusOf = ({ counts }: Report): number => (counts.error > 0 ? 4 : counts.warn > 0 ? 3 : 0)
