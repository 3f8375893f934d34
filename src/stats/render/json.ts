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
  if (typeof value === 'bigint') return value.toString()
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(formatJson).join(',')}]`
  const fields: string[] = []
  for (const [key, field] of Object.entries(value))
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${formatJson(field)}`)
  return `{${fields.join(',')}}`
}

/** RFC 3339 in UTC with whole seconds; 0 is no time at all. */
export const formatTime = (nanos: bigint): string | null =>
  nanos === 0n ? null : new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().replace('.000Z', 'Z')
