// "Did you mean": the known name that is closest to a mistyped one, or none when nothing is close.

/** Edit distance with neighbouring swaps counted once; gives up (returns limit + 1) as soon as it is too far. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let best = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1)
      }
      row.push(cost)
      best = Math.min(best, cost)
    }
    if (best > limit) return limit + 1
    beforeLast = last
    last = row
  }
  return Math.min(at(last, b.length), limit + 1)
}

const at = (row: readonly number[], i: number): number => row[i] ?? Number.POSITIVE_INFINITY

/** `cgroupDrivr` among field names -> `cgroupDriver`. Case counts little: it is the commonest slip. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > 128) return undefined
  const wanted = name.toLowerCase()
  let limit = Math.max(1, Math.floor(name.length / 3))
  let found: string | undefined
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), limit)
    if (distance > limit) continue
    if (found === undefined || distance < limit) found = candidate
    limit = distance
    if (distance === 0) break
  }
  return found
}

/** A sentence tail for messages: `; did you mean cgroupDriver?`, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = nearestName(name, known)
  return near === undefined ? '' : `; did you mean ${near}?`
}
