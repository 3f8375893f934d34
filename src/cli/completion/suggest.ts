// Values that completion offers where the parser takes more than a fixed list: comma lists, or names with aliases.
import type { Argument, Option } from 'commander'

const suggested = new WeakMap<Argument | Option, readonly string[]>()

export function suggest<T extends Argument | Option>(to: T, values: readonly string[]): T {
  suggested.set(to, values)
  return to
}

export const suggestionsFor = (of: Argument | Option): readonly string[] | undefined =>
  suggested.get(of) ?? of.argChoices
