// What a person sees of a vector run: every failing case with its differences, then the counts.
import { type CaseResult, isPassed } from './runner.js'

export function formatResult(result: CaseResult): string {
  const head = `FAIL ${result.file} ${result.id}`
  if (result.error !== undefined) return `${head}\n  ${result.error}`
  const lines = result.differences.map(
    (d) => `  ${d.path === '' ? '(case)' : d.path}: expected ${show(d.expected)}, got ${show(d.got)}`,
  )
  return [head, ...lines].join('\n')
}

export function formatCounts(results: readonly CaseResult[]): string {
  const passed = results.filter(isPassed).length
  return `${passed} passed, ${results.length - passed} failed`
}

const show = (v: unknown): string =>
  v === undefined
    ? 'nothing'
    : (JSON.stringify(v, (_key, x: unknown) => (typeof x === 'bigint' ? `${x}` : x)) ?? String(v))
