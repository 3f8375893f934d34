// ginkgo's report of a run, reduced to the outcome of each spec that was chosen.
import { type ListedSpec, specText } from './specs.js'

export type SpecOutcome = 'passed' | 'failed' | 'skipped' | 'not run'

export interface SpecResult {
  readonly outcome: SpecOutcome
  /** Why it did not pass, in the words of the spec, cut. */
  readonly message?: string
}

interface SpecReport {
  readonly LeafNodeType: string
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly State: string
  readonly Failure?: { readonly Message?: string }
}

const MESSAGE_LENGTH = 240

/** Addresses, ids and times are of one run: without them the same failure reads the same in the next one. */
const shorten = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\b0x[0-9a-f]+/g, '0x')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UID')
    .replaceAll(/-\d{1,5}\//g, '/')
    .replaceAll(/(\d+)\.\d{3}s\b/g, '$1s')
    .trim()
    .slice(0, MESSAGE_LENGTH)

const outcomeOf = (state: string): SpecOutcome =>
  state === 'passed' || state === 'skipped' ? state : state === 'pending' ? 'skipped' : 'failed'

function readSpecReports(text: string): readonly SpecReport[] {
  const suites: unknown = JSON.parse(text)
  if (!Array.isArray(suites)) throw new Error('the report of ginkgo is no list of suites')
  return suites.flatMap((s: { readonly SpecReports?: readonly SpecReport[] | null }) => s.SpecReports ?? [])
}

/** Failures outside of specs: the suite could not begin, or could not clean up. */
export const suiteFailures = (text: string): string[] =>
  readSpecReports(text)
    .filter((r) => r.LeafNodeType !== 'It' && outcomeOf(r.State) === 'failed')
    .map((r) => `${r.LeafNodeType}: ${shorten(r.Failure?.Message ?? r.State)}`)

/** A spec that has no result of its own (the suite could not begin, or was stopped) is `not run`. */
export function parseResults(text: string, chosen: readonly ListedSpec[]): Map<string, SpecResult> {
  const results = new Map<string, SpecResult>(chosen.map((s) => [s.name, { outcome: 'not run' }]))
  for (const report of readSpecReports(text)) {
    const name = specText(report)
    if (report.LeafNodeType !== 'It' || !results.has(name)) continue
    const message = shorten(report.Failure?.Message ?? '')
    // ginkgo skips what it does not reach, and says no reason for that.
    if (outcomeOf(report.State) === 'skipped' && message === '') continue
    results.set(name, {
      outcome: outcomeOf(report.State),
      ...(message === '' || report.State === 'passed' ? {} : { message }),
    })
  }
  return results
}
