// What a conformance unit is, and the record of its checks.
import type { PeerName } from './peers/catalogue.js'

export interface Unit {
  readonly name: string
  readonly summary: string
  /** Built (or taken from the cache) before run() is called. */
  readonly peers: readonly PeerName[]
  /** Flags of its own, with what `--list` says about them. */
  readonly options?: Readonly<Record<string, UnitOption>>
  /** Takes long or needs choices: it runs only when it is named. */
  readonly onlyByName?: boolean
  /** Throws UsageError for flags that make no sense; called before anything is built. */
  checkOptions?(options: OptionValues): void | Promise<void>
  /** In words what this machine lacks; asked before anything is built. */
  missing?(): string | undefined
  run(context: UnitContext): Promise<void>
}

export interface UnitOption {
  readonly type: 'string' | 'boolean'
  readonly summary: string
}

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>

export class UsageError extends Error {}

export interface UnitContext {
  /** Flags of the unit, as they were given. */
  readonly options: OptionValues
  /** Path of a built peer of this unit. */
  peer(name: PeerName): string
  /** An empty directory of this run; removed afterwards, after every daemon has ended. */
  readonly directory: string
  /** Runs one named check; a failure is recorded and the unit goes on. Returns whether it passed. */
  check(name: string, body: () => Promise<void>): Promise<boolean>
  /** Records a check that cannot run here, with the reason. A failure where nothing may be skipped (CI=true). */
  skip(name: string, reason: string): void
  note(line: string): void
  /** Resolves at Ctrl-C or SIGTERM, which from then on do not end the run before its clean-up. */
  untilStopped(): Promise<void>
  /** Called in reverse order when the unit ends, however it ends. */
  defer(cleanup: () => Promise<void>): void
}

export type Outcome = 'passed' | 'failed' | 'skipped'

export interface CheckResult {
  readonly unit: string
  readonly check: string
  readonly outcome: Outcome
  readonly reason?: string
}

export const formatCounts = (results: readonly CheckResult[]): string => {
  const count = (outcome: Outcome) => results.filter((r) => r.outcome === outcome).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}
