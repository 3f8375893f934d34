// JSON with bigints printed as numbers, in full: /stats/summary has counters above 2^53, and its readers are Go.

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

/** Undefined fields are left out, as JSON.stringify does. */
export function formatJson(value: JsonValue): string {
  const parts: string[] = []
  add(value, parts)
  return parts.join('')
}

/** Into one list: the summary of a hundred pods has ten thousand values, and a text for each part of it is mostly garbage. */
function add(value: JsonValue, parts: string[]): void {
  if (typeof value === 'bigint') parts.push(value.toString())
  else if (value === null || typeof value !== 'object') parts.push(JSON.stringify(value))
  else if (isList(value)) {
    parts.push('[')
    for (let i = 0; i < value.length; i++) {
      if (i > 0) parts.push(',')
      add(value[i] ?? null, parts)
    }
    parts.push(']')
  } else {
    let before = '{'
    for (const key in value) {
      const field = value[key]
      if (field === undefined) continue
      parts.push(before, JSON.stringify(key), ':')
      add(field, parts)
      before = ','
    }
    parts.push(before === '{' ? '{}' : '}')
  }
}

const isList = (value: object): value is readonly JsonValue[] => Array.isArray(value)

/** RFC 3339 in UTC with whole seconds; 0 is no time at all. */
export const formatTime = (nanos: bigint): string | null =>
  nanos === 0n ? null : new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().replace('.000Z', 'Z')
