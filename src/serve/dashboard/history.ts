// The last hour of the node and of each pod, for charts of a page that was opened just now. Rings of fixed size: memory is
// bounded by the number of pods.
import {
  type LiveTrack,
  nodeMoment,
  podMoment,
  type TrackValues,
  trackKeys,
} from '../../core/dashboard/model.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { LiveReader, LiveSample } from './dashboard.js'
import type { LiveHub } from './hub.js'

export interface LiveHistory {
  /** Of a pod by its id, or of the node. One that was not sampled yet has no moments. */
  track(podId?: string): LiveTrack
}

export const historyStepMs = 60_000
export const historyMoments = 60
/** Seven digits are more than a chart shows, and half the text. */
const digits = 7

type Ring = Float32Array
const width = trackKeys.length
const newRing = (): Ring => new Float32Array(historyMoments * width).fill(Number.NaN)

const nothingYet: LiveTrack = {
  times: [],
  values: Object.fromEntries(trackKeys.map((key) => [key, []])) as unknown as LiveTrack['values'],
}

/** Keeps what it is given. Exported for its test; the dashboard uses `startHistory`. */
export function createHistory(): LiveHistory & { add(sample: LiveSample): void } {
  const times: number[] = []
  /** The column that is written next. */
  let next = 0
  const node = newRing()
  const pods = new Map<string, Ring>()

  const write = (ring: Ring, column: number, values: TrackValues): void => {
    for (const [i, key] of trackKeys.entries()) ring[column * width + i] = values[key] ?? Number.NaN
  }

  function read(ring: Ring): LiveTrack {
    const oldest = times.length < historyMoments ? 0 : next
    const columns = times.map((_, i) => (oldest + i) % historyMoments)
    const valuesOf = (row: number): (number | null)[] =>
      columns.map((column) => {
        const value = ring[column * width + row] ?? Number.NaN
        return Number.isNaN(value) ? null : Number(value.toPrecision(digits))
      })
    return {
      times: columns.map((column) => times[column] ?? 0),
      values: Object.fromEntries(
        trackKeys.map((key, row): [keyof TrackValues, (number | null)[]] => [key, valuesOf(row)]),
      ) as Record<keyof TrackValues, (number | null)[]>,
    }
  }

  return {
    add(sample) {
      times[next] = Math.round(Date.parse(sample.time) / 1000)
      write(node, next, nodeMoment(sample))
      const seen = new Set(sample.pods.map((pod) => pod.id))
      for (const id of pods.keys()) if (!seen.has(id)) pods.delete(id)
      for (const pod of sample.pods) {
        const ring = pods.get(pod.id) ?? newRing()
        pods.set(pod.id, ring)
        write(ring, next, podMoment(pod))
      }
      next = (next + 1) % historyMoments
    },
    track(podId) {
      const ring = podId === undefined ? node : pods.get(podId)
      return ring === undefined ? nothingYet : read(ring)
    },
  }
}

interface HistoryOptions {
  readonly hub: Pick<LiveHub, 'watchers' | 'snapshot'>
  readonly reader: Pick<LiveReader, 'sample'>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

/** Samples by itself, rarely; while a dashboard is open it takes what that reads anyway. */
export function startHistory({ hub, reader, clock, log, signal }: HistoryOptions): LiveHistory {
  const history = createHistory()
  const run = async (): Promise<void> => {
    for (;;) {
      await pause(clock, historyStepMs, signal)
      if (signal.aborted) return
      try {
        history.add(await (hub.watchers > 0 ? hub.snapshot(signal) : reader.sample(signal)))
      } catch (e) {
        if (!signal.aborted) log.warn('failed to sample the history of the dashboard', { error: e })
      }
    }
  }
  void run()
  return history
}
