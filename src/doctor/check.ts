// A check: one question that a person would ask about a node, answered from facts that were gathered before. It
// changes nothing. docs/doctor/NAME.md explains each one.

/** `skipped`: the question could not be asked here. `info`: worth knowing, nothing to do. */
export type Severity = 'ok' | 'skipped' | 'info' | 'warn' | 'error'

export interface Finding {
  readonly severity: Severity
  /** Empty only for `ok`. */
  readonly message: string
  /** What was seen, one line each: a file with its value, a call with its answer. */
  readonly evidence: readonly string[]
  /** What to do next; warnings and errors always have one. */
  readonly remedy: string | undefined
}

/** `F` is what the check looks at; a list of checks is run with facts that have all of it. */
export interface Check<F> {
  readonly name: string
  readonly asks: string
  run(facts: F): Finding | readonly Finding[]
}

const finding = (
  severity: Severity,
  message: string,
  remedy: string | undefined,
  evidence: readonly string[],
): Finding => ({ severity, message, evidence, remedy })

/** What was seen may be given, so that a good answer can be believed. */
export const ok = (...evidence: readonly string[]): Finding => finding('ok', '', undefined, evidence)
export const skipped = (why: string): Finding => finding('skipped', why, undefined, [])
export const info = (message: string, evidence: readonly string[] = [], remedy?: string): Finding =>
  finding('info', message, remedy, evidence)
export const warn = (message: string, remedy: string, evidence: readonly string[] = []): Finding =>
  finding('warn', message, remedy, evidence)
export const error = (message: string, remedy: string, evidence: readonly string[] = []): Finding =>
  finding('error', message, remedy, evidence)

/** Long lists say how many there are and name the first ones. */
const maxNamed = 8
export const firstOf = (list: readonly string[]): readonly string[] =>
  list.length <= maxNamed ? list : [...list.slice(0, maxNamed), `and ${list.length - maxNamed} more`]
