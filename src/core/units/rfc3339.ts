// Instants as Kubernetes writes them: RFC 3339 in UTC, whole seconds.

const nanosPerMilli = 1_000_000n

/** `2026-11-15T08:39:38Z` */
export const formatTime = (nanos: bigint): string =>
  `${new Date(Number(nanos / nanosPerMilli)).toISOString().slice(0, 19)}Z`

/** With nanoseconds, as in CRI log lines: `2026-11-15T08:39:38.000000001Z`. */
export function formatTimeNano(nanos: bigint): string {
  const fraction = (nanos % 1_000_000_000n).toString().padStart(9, '0')
  return `${new Date(Number(nanos / nanosPerMilli)).toISOString().slice(0, 19)}.${fraction}Z`
}

/** Undefined: not such a time. Offsets other than Z are taken too. */
export function parseTime(text: string): bigint | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/.exec(text)
  if (match === null) return undefined
  const millis = Date.parse(`${match[1]}${match[3]}`)
  if (Number.isNaN(millis)) return undefined
  return BigInt(millis) * nanosPerMilli + BigInt((match[2] ?? '').padEnd(9, '0'))
}
