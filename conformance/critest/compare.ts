// Two runs of critest side by side: what passes directly must pass through the server, and whatever does not pass
// directly must be on the list of what cannot.
import type { Spec, SpecOutcome } from './report.js'

export interface Comparison {
  readonly direct: Readonly<Record<SpecOutcome, number>>
  readonly through: Readonly<Record<SpecOutcome, number>>
  /** Passes directly, and not through the server. */
  readonly lost: readonly Difference[]
  /** Passes only through the server. */
  readonly gained: readonly string[]
  /** Does not pass directly, and is not on the list. */
  readonly unexplained: readonly Spec[]
  /** On the list, and passes directly or does not exist. */
  readonly stale: readonly string[]
}

export interface Difference {
  readonly name: string
  readonly through: SpecOutcome | 'absent'
  readonly message: string
}

const count = (specs: readonly Spec[]): Record<SpecOutcome, number> => {
  const of = (outcome: SpecOutcome) => specs.filter((s) => s.outcome === outcome).length
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') }
}

export function compareRuns(
  direct: readonly Spec[],
  through: readonly Spec[],
  cannotRun: ReadonlySet<string>,
): Comparison {
  const other = new Map(through.map((s) => [s.name, s]))
  const before = new Map(direct.map((s) => [s.name, s]))
  const passes = (s: Spec | undefined): boolean => s?.outcome === 'passed'
  return {
    direct: count(direct),
    through: count(through),
    lost: direct
      .filter((s) => passes(s) && !passes(other.get(s.name)))
      .map(({ name }) => {
        const found = other.get(name)
        return { name, through: found?.outcome ?? 'absent', message: found?.message ?? '' }
      }),
    gained: through.filter((s) => passes(s) && !passes(before.get(s.name))).map((s) => s.name),
    unexplained: direct.filter((s) => !passes(s) && !cannotRun.has(s.name)),
    stale: [...cannotRun].filter((name) => passes(before.get(name)) || !before.has(name)),
  }
}

export const formatRun = (n: Readonly<Record<SpecOutcome, number>>): string =>
  `${n.passed} passed, ${n.failed} failed, ${n.skipped} skipped`
