// Compares a result with the expected part of a vector: only what is listed there counts, unless said otherwise.
import { isDeepStrictEqual } from 'node:util'
import { type Difference, isFields } from './types.js'

export interface CompareOptions {
  /** Leaf equality by the name of the field; deep equality unless told. */
  readonly equal?: (key: string, expected: unknown, got: unknown) => boolean
  /** Paths below which nothing may be there beyond what is expected. */
  readonly complete?: readonly string[]
  /** A second acceptable value for the fields it names. */
  readonly alsoAccept?: unknown
}

export function compare(
  expected: unknown,
  got: unknown,
  options: CompareOptions = {},
): readonly Difference[] {
  const equal = options.equal ?? ((_key: string, a: unknown, b: unknown) => isDeepStrictEqual(a, b))
  const complete = new Set(options.complete ?? [])
  const walk = (want: unknown, is: unknown, keys: readonly string[]): Difference[] => {
    if (isFields(want) && isFields(is)) {
      const here = complete.has(keys.join('.'))
      const names = here ? new Set([...Object.keys(want), ...Object.keys(is)]) : Object.keys(want)
      return [...names].flatMap((name) => {
        if (!Object.hasOwn(want, name)) {
          return [{ path: [...keys, name].join('.'), expected: undefined, got: is[name] }]
        }
        return walk(want[name], is[name], [...keys, name])
      })
    }
    const key = keys.at(-1) ?? ''
    if (equal(key, want, is)) return []
    const other = at(options.alsoAccept, keys)
    if (other.found && equal(key, other.value, is)) return []
    return [{ path: keys.join('.'), expected: want, got: is }]
  }
  return walk(expected, got, [])
}

function at(of: unknown, keys: readonly string[]): { found: boolean; value?: unknown } {
  let here = of
  for (const key of keys) {
    if (!isFields(here) || !Object.hasOwn(here, key)) return { found: false }
    here = here[key]
  }
  return { found: here !== undefined, value: here }
}
