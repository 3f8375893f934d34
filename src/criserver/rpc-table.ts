// How each RPC was handled: forwarded, completed or answered, how often, how fast, with which code. One owner; others get
// snapshots. The number of names is limited, since a caller may send any path.
import { ImageServiceDefinition, RuntimeServiceDefinition } from '../cri-api/api.js'
import type { CallEnding, Maker } from '../ports/cri-calls.js'

/** Upper bounds in seconds; also the buckets of the Prometheus histogram. */
export const latencyBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
] as const

export interface RpcRow {
  readonly rpc: string
  readonly forwarded: number
  readonly completed: number
  readonly answered: number
  /** Calls that did not end with OK, by gRPC code. */
  readonly failures: Readonly<Record<string, number>>
  /** The runtime does not have it: it said UNIMPLEMENTED. */
  readonly missing: number
  /** Fields that the runtime left out, by name; see `noteMissing`. */
  readonly missingFields: Readonly<Record<string, number>>
  readonly meanMs: number
  /** Upper bounds of the bucket that the percentile falls into. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface RpcTable {
  nameOf(path: string): string
  record(path: string, ending: CallEnding, seconds: number): void
  noteMissing(path: string, field?: string): void
  rows(): readonly RpcRow[]
}

const known: ReadonlyMap<string, string> = new Map(
  [RuntimeServiceDefinition, ImageServiceDefinition].flatMap((service) =>
    Object.values(service.methods).map((m): [string, string] => [`/${service.fullName}/${m.name}`, m.name]),
  ),
)
/** A stream that lasts as long as its reader likes: its length says nothing about latency, and a shutdown does not wait for it. */
export const isEndless = (path: string): boolean => path.endsWith('/GetContainerEvents')

/** Unknown paths are shown as they are; beyond this many they share one row. */
const maxUnknown = 32
const maxNameLength = 120
const maxFields = 64

interface Entry {
  readonly makers: Record<Maker, number>
  readonly failures: Record<string, number>
  readonly missingFields: Record<string, number>
  missing: number
  readonly buckets: number[]
  totalSeconds: number
  maxSeconds: number
}

const newEntry = (): Entry => ({
  makers: { forwarded: 0, completed: 0, answered: 0 },
  failures: {},
  missingFields: {},
  missing: 0,
  buckets: new Array<number>(latencyBuckets.length + 1).fill(0),
  totalSeconds: 0,
  maxSeconds: 0,
})

export function createRpcTable(): RpcTable {
  const entries = new Map<string, Entry>()
  const unknown = new Set<string>()

  function nameOf(path: string): string {
    const name = known.get(path)
    if (name !== undefined) return name
    if (unknown.has(path)) return path
    if (unknown.size >= maxUnknown || path.length > maxNameLength) return 'other'
    unknown.add(path)
    return path
  }

  function entryOf(path: string): Entry {
    const name = nameOf(path)
    const entry = entries.get(name) ?? newEntry()
    entries.set(name, entry)
    return entry
  }

  return {
    nameOf,
    record(path, { code, maker }, seconds) {
      const entry = entryOf(path)
      entry.makers[maker] += 1
      if (code !== 0) entry.failures[code] = (entry.failures[code] ?? 0) + 1
      const bucket = latencyBuckets.findIndex((bound) => seconds <= bound)
      const at = bucket < 0 ? latencyBuckets.length : bucket
      entry.buckets[at] = (entry.buckets[at] ?? 0) + 1
      entry.totalSeconds += seconds
      entry.maxSeconds = Math.max(entry.maxSeconds, seconds)
    },
    noteMissing(path, field) {
      const entry = entryOf(path)
      if (field === undefined) entry.missing += 1
      else if (field in entry.missingFields || Object.keys(entry.missingFields).length < maxFields)
        entry.missingFields[field] = (entry.missingFields[field] ?? 0) + 1
    },
    rows: () => [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([rpc, e]) => toRow(rpc, e)),
  }
}

function toRow(rpc: string, e: Entry): RpcRow {
  const count = e.buckets.reduce((sum, n) => sum + n, 0)
  return {
    rpc,
    ...e.makers,
    failures: { ...e.failures },
    missing: e.missing,
    missingFields: { ...e.missingFields },
    meanMs: count === 0 ? 0 : (e.totalSeconds / count) * 1000,
    p50Ms: percentile(e, count, 0.5),
    p99Ms: percentile(e, count, 0.99),
    maxMs: e.maxSeconds * 1000,
  }
}

function percentile(e: Entry, count: number, part: number): number {
  let seen = 0
  for (const [i, n] of e.buckets.entries()) {
    seen += n
    if (n > 0 && seen >= count * part) return Math.min(latencyBuckets[i] ?? e.maxSeconds, e.maxSeconds) * 1000
  }
  return 0
}
