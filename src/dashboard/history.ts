// What the charts show: the last hour of the node and of each pod. Since the page was opened every second, thinned out as it
// gets older; before that, what the server kept. A gap is null.
import {
  type LiveSnapshot,
  type LiveTrack,
  nodeMoment,
  podMoment,
  type TrackValues,
  trackKeys,
} from '../core/dashboard/model.js'

export type Series = (number | null)[]

/** Columns of one chart's worth of time. */
export type Track = { readonly times: number[] } & Readonly<Record<keyof TrackValues, Series>>

export interface History {
  readonly node: Track
  pod(id: string): Track | undefined
  add(snapshot: Pick<LiveSnapshot, 'time' | 'node' | 'pods'>): void
  /** What the server knows of the time before; `id` of a pod, undefined: the node. */
  addOlder(id: string | undefined, older: LiveTrack): void
}

const longestSeconds = 3600
/** Up to this age, one moment of so many seconds is kept. */
const detail = [
  { age: 120, step: 1 },
  { age: 600, step: 5 },
  { age: longestSeconds, step: 30 },
] as const
/** Moments between two clean-ups. */
const cleanEvery = 60

const newTrack = (): Track => ({
  times: [],
  ...(Object.fromEntries(trackKeys.map((key) => [key, []])) as unknown as Record<keyof TrackValues, Series>),
})

function push(track: Track, time: number, values: TrackValues): void {
  track.times.push(time)
  for (const key of trackKeys) track[key].push(values[key])
  if (track.times.length % cleanEvery === 0) thin(track, time)
}

/** Keeps the first moment of each step; what is too old goes. */
function thin(track: Track, now: number): void {
  const kept: number[] = []
  let last = ''
  for (const [i, time] of track.times.entries()) {
    const step = detail.find(({ age }) => now - time <= age)?.step
    if (step === undefined) continue
    const place = `${step} ${Math.floor(time / step)}`
    if (place !== last) kept.push(i)
    last = place
  }
  if (kept.length === track.times.length) return
  const times = kept.map((i) => track.times[i] ?? 0)
  track.times.splice(0, track.times.length, ...times)
  for (const key of trackKeys) {
    const column = kept.map((i) => track[key][i] ?? null)
    track[key].splice(0, track[key].length, ...column)
  }
}

export function createHistory(): History {
  const node = newTrack()
  const pods = new Map<string, Track>()
  return {
    node,
    pod: (id) => pods.get(id),
    add(snapshot) {
      const at = Date.parse(snapshot.time) / 1000
      // A picture that was sent again after a reconnect is not a new moment.
      if (at <= (node.times.at(-1) ?? 0)) return
      for (const pod of snapshot.pods) {
        const track = pods.get(pod.id) ?? newTrack()
        pods.set(pod.id, track)
        push(track, at, podMoment(pod))
      }
      push(node, at, nodeMoment(snapshot))
      const ids = new Set(snapshot.pods.map((p) => p.id))
      for (const id of pods.keys()) if (!ids.has(id)) pods.delete(id)
    },
    addOlder(id, older) {
      const track = id === undefined ? node : pods.get(id)
      if (track === undefined) return
      const first = track.times[0] ?? Number.POSITIVE_INFINITY
      const count = older.times.filter((time) => time < first).length
      track.times.unshift(...older.times.slice(0, count))
      for (const key of trackKeys) track[key].unshift(...older.values[key].slice(0, count))
    },
  }
}

/** The part of a track that is not older than this, for a chart. */
export function since(track: Track, seconds: number): Track {
  const from = (track.times.at(-1) ?? 0) - seconds
  const start = track.times.findIndex((time) => time >= from)
  if (start <= 0) return track
  const part = newTrack()
  part.times.push(...track.times.slice(start))
  for (const key of trackKeys) part[key].push(...track[key].slice(start))
  return part
}
