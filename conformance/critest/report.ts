// What ginkgo writes with --json-report, reduced to the outcome of each spec.

export type SpecOutcome = 'passed' | 'failed' | 'skipped'

export interface Spec {
  readonly name: string
  readonly outcome: SpecOutcome
  /** Why it failed or was skipped, in the words of critest. */
  readonly message?: string
  /** Present when it did not pass at the first attempt. */
  readonly attempts?: number
}

interface SpecReport {
  readonly LeafNodeType: string
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly State: string
  readonly Failure?: { readonly Message?: string }
  readonly NumAttempts?: number
}

const isSpecReport = (value: unknown): value is SpecReport =>
  typeof value === 'object' &&
  value !== null &&
  'LeafNodeType' in value &&
  'LeafNodeText' in value &&
  'State' in value &&
  typeof value.State === 'string'

const outcomeOf = (state: string): SpecOutcome =>
  state === 'passed' || state === 'skipped' ? state : state === 'pending' ? 'skipped' : 'failed'

/** Whitespace folded, and the container labels that every name begins with left out. */
const nameOf = (report: SpecReport): string =>
  [...(report.ContainerHierarchyTexts ?? []), report.LeafNodeText]
    .join(': ')
    .replaceAll('[k8s.io] ', '')
    .replaceAll(/\s+/g, ' ')

/** critest never skips without a reason: what has none was not chosen, as the benchmarks are not. */
const wasChosen = ({ outcome, message }: Spec): boolean => outcome !== 'skipped' || message !== undefined

export function parseReport(text: string): Spec[] {
  const suites: unknown = JSON.parse(text)
  if (!Array.isArray(suites)) throw new Error('the report of ginkgo is no list of suites')
  const reports = suites.flatMap((suite: { readonly SpecReports?: readonly unknown[] | null }) => [
    ...(suite.SpecReports ?? []),
  ])
  const specs = reports
    .filter(isSpecReport)
    .filter((r) => r.LeafNodeType === 'It')
    .map((r): Spec => {
      const message = r.Failure?.Message?.trim() ?? ''
      const attempts = r.NumAttempts ?? 1
      return {
        name: nameOf(r),
        outcome: outcomeOf(r.State),
        ...(message === '' ? {} : { message }),
        ...(attempts > 1 ? { attempts } : {}),
      }
    })
    .filter(wasChosen)
  const names = new Set(specs.map((s) => s.name))
  if (names.size !== specs.length) throw new Error('two specs of the report have one name')
  return specs.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A suite that could not begin (no runtime, say) has no failed spec: its own failure is the answer. */
export function suiteFailures(text: string): string[] {
  const suites = JSON.parse(text) as readonly { readonly SpecReports?: readonly unknown[] | null }[]
  return suites
    .flatMap((s) => [...(s.SpecReports ?? [])])
    .filter(isSpecReport)
    .filter((r) => r.LeafNodeType !== 'It' && outcomeOf(r.State) === 'failed')
    .map((r) => `${r.LeafNodeType}: ${r.Failure?.Message ?? r.State}`)
}
