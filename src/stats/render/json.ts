// JSON with bigints printed as numbers, in full: /stats/summary has counters above 2^53, and its readers are Go.

import { createTextBytes, joinTexts, type TextBytes } from './text-bytes.js'

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

/** Undefined fields are left out, as JSON.stringify does. */
export function formatJson(value: JsonValue): Uint8Array {
  const into = createTextBytes()
  add(value, into)
  return joinTexts([into])
}

function add(value: JsonValue, into: TextBytes): void {
  if (typeof value === 'bigint') into.add(value.toString())
  else if (value === null || typeof value !== 'object') into.add(JSON.stringify(value))
  else if (isList(value)) {
    into.add('[')
    for (let i = 0; i < value.length; i++) {
      if (i > 0) into.add(',')
      add(value[i] ?? null, into)
    }
    into.add(']')
  } else {
    let before = '{'
    for (const key in value) {
      const field = value[key]
      if (field === undefined) continue
      into.add(`${before}${JSON.stringify(key)}:`)
      add(field, into)
      before = ','
    }
    into.add(before === '{' ? '{}' : '}')
  }
}

const isList = (value: object): value is readonly JsonValue[] => Array.isArray(value)

/** RFC 3339 in UTC with whole seconds; 0 is no time at all. */
export const formatTime = (nanos: bigint): string | null =>
  nanos === 0n ? null : new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().replace('.000Z', 'Z')
