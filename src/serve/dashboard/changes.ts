// A snapshot as a flat table of JSON pieces, and what changed between two of them. Pieces are compared as text, so that
// what did not change is not sent.
import type { LiveSnapshot } from '../../core/dashboard/model.js'

export type Pieces = ReadonlyMap<string, string>

/** `pod ID` and `cgroup PATH` are separate pieces: most of a node rarely changes. */
export function toPieces(snapshot: LiveSnapshot): Pieces {
  const { pods, cgroups, ...rest } = snapshot
  const pieces = new Map(Object.entries(rest).map(([key, value]) => [key, JSON.stringify(value)]))
  for (const pod of pods) pieces.set(`pod ${pod.id}`, JSON.stringify(pod))
  if ('absent' in cgroups) pieces.set('cgroups', JSON.stringify(cgroups))
  else {
    pieces.set('cgroups', '{"data":[]}')
    for (const row of cgroups.data) pieces.set(`cgroup ${row.path}`, JSON.stringify(row))
  }
  return pieces
}

const formatSet = (pieces: Iterable<readonly [string, string]>): string =>
  `{${[...pieces].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`

/** JSON of a LiveChange. */
export function formatChange(before: Pieces | undefined, now: Pieces): string {
  const set = [...now].filter(([key, text]) => before?.get(key) !== text)
  const remove = before === undefined ? [] : [...before.keys()].filter((key) => !now.has(key))
  return `{"whole":${before === undefined},"set":${formatSet(set)},"remove":${JSON.stringify(remove)}}`
}
