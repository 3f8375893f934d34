// Requests of one user in the API server's audit log, by verb and resource.

interface AuditLine {
  readonly verb: string
  readonly requestReceivedTimestamp: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string }
}

/** From `fromMs` to `toMs` of the wall clock; a last line that is only half written is left out. */
export function countRequests(
  text: string,
  user: string,
  fromMs: number,
  toMs: number,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.slice(0, text.lastIndexOf('\n')).split('\n')) {
    const entry = JSON.parse(line) as AuditLine
    const at = Date.parse(entry.requestReceivedTimestamp)
    if (entry.user.username !== user || at < fromMs || at >= toMs) continue
    const { resource = '', subresource } = entry.objectRef ?? {}
    const key = `${entry.verb} ${[resource, subresource].filter(Boolean).join('/')}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

export const sumOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, n) => sum + n, 0)
