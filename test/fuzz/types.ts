// A fuzz target: makes an input from random numbers and gives it to a parser. Adding one is a line in
// targets/index.ts.
import type { Random } from './random.js'

export interface FuzzTarget {
  readonly name: string
  /** The same random numbers must give the same input. */
  generate(random: Random): unknown
  /** Returns when the input is accepted or refused with a KeelsonError; anything else that is thrown is a finding. */
  run(input: unknown): void
}

/** For targets that check more than "no crash". */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}
