// What the charts show: the last ten minutes since the page was opened, of the node and of each pod. A gap is null.
import type { LivePressures, LiveSnapshot } from '../core/dashboard/model.js'

export type Series = (number | null)[]

/** Columns of one chart's worth of time. */
interface Track {
  readonly times: number[]
  readonly throttles: Series
  readonly cpuPressure: Series
  readonly memoryPressure: Series
  readonly ioPressure: Series
  readonly workingSet: Series
  readonly cpu: Series
}

export interface History {
  readonly node: Track
  pod(id: string): Track | undefined
  add(snapshot: Pick<LiveSnapshot, 'time' | 'node' | 'pods'>): void
}

const longest = 600

const newTrack = (): Track => ({
  times: [],
  throttles: [],
  cpuPressure: [],
  memoryPressure: [],
  ioPressure: [],
  workingSet: [],
  cpu: [],
})

type Values = Readonly<Record<Exclude<keyof Track, 'times'>, number | null>>

function push(track: Track, time: number, values: Values): void {
  track.times.push(time)
  for (const key of Object.keys(values) as (keyof Values)[]) track[key].push(values[key])
  if (track.times.length <= longest) return
  for (const column of Object.values(track) as Series[]) column.splice(0, column.length - longest)
}

const pressures = (p: LivePressures | null) => ({
  cpuPressure: p?.cpu?.some ?? null,
  memoryPressure: p?.memory?.some ?? null,
  ioPressure: p?.io?.some ?? null,
})

export function createHistory(): History {
  const node = newTrack()
  const pods = new Map<string, Track>()
  return {
    node,
    pod: (id) => pods.get(id),
    add({ time, node: now, pods: all }) {
      const at = Date.parse(time) / 1000
      // A picture that was sent again after a reconnect is not a new moment.
      if (at <= (node.times.at(-1) ?? 0)) return
      let throttles: number | null = null
      let workingSet = 0
      for (const { id, values } of all) {
        const track = pods.get(id) ?? newTrack()
        pods.set(id, track)
        const rate = values.memory?.throttlesPerSecond ?? null
        if (rate !== null) throttles = (throttles ?? 0) + rate
        const set = values.memory === null ? null : Number(values.memory.workingSet)
        workingSet += set ?? 0
        push(track, at, {
          throttles: rate,
          ...pressures(values.pressure),
          workingSet: set,
          cpu: values.cpu?.milli ?? null,
        })
      }
      push(node, at, { throttles, ...pressures(now.pressure), workingSet, cpu: now.cpuMilli })
      const ids = new Set(all.map((p) => p.id))
      for (const id of pods.keys()) if (!ids.has(id)) pods.delete(id)
    },
  }
}
