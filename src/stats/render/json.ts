// JSON with bigints printed as numbers, in full: /stats/summary has counters above 2^53, and its readers are Go.

import type { TextBytes } from './text-bytes.js'

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

/** `"name":` of each field. There are some dozens of them, each hundreds of times in every answer. */
const names = new Map<string, string>()
const MOST_NAMES = 1_000

function quotedName(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  const quoted = `${JSON.stringify(name)}:`
  if (names.size < MOST_NAMES) names.set(name, quoted)
  return quoted
}

/** Undefined fields are left out, as JSON.stringify does. */
export function addJson(value: JsonValue, into: Pick<TextBytes, 'add'>): void {
  if (typeof value === 'bigint') into.add(value.toString())
  else if (value === null || typeof value !== 'object') into.add(JSON.stringify(value))
  else if (isList(value)) {
    into.add('[')
    for (let i = 0; i < value.length; i++) {
      if (i > 0) into.add(',')
      addJson(value[i] ?? null, into)
    }
    into.add(']')
  } else {
    let before = '{'
    for (const key in value) {
      const field = value[key]
      if (field === undefined) continue
      into.add(before)
      into.add(quotedName(key))
      addJson(field, into)
      before = ','
    }
    into.add(before === '{' ? '{}' : '}')
  }
}

const isList = (value: object): value is readonly JsonValue[] => Array.isArray(value)

/** RFC 3339 in UTC with whole seconds; 0 is no time at all. */
export const formatTime = (nanos: bigint): string | null =>
  nanos === 0n ? null : new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().replace('.000Z', 'Z')
