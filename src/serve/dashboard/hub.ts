// Shares one reader among all open dashboards: each sample is read, compared and serialized once. A client that is too slow
// for every change gets the whole snapshot instead, so that nothing is queued.
import type { LiveSnapshot } from '../../core/dashboard/model.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import { formatChange, type Pieces, toPieces } from './changes.js'
import type { LiveReader } from './dashboard.js'

export interface LiveHub {
  readonly watchers: number
  /** The newest reading, or a new one if no dashboard is open. */
  snapshot(signal: AbortSignal): Promise<LiveSnapshot>
  /** JSON of LiveChange, the first with everything. Ends with the signal. */
  watch(signal: AbortSignal): AsyncGenerator<string>
}

export const maxWatchers = 32

export function createLiveHub(
  reader: Pick<LiveReader, 'take' | 'periodMs'>,
  clock: Clock,
  log: Log,
): LiveHub {
  let watchers = 0
  let version = 0
  let newest:
    | { readonly snapshot: LiveSnapshot; readonly pieces: Pieces; readonly change: string }
    | undefined
  let whole: { readonly version: number; readonly text: string } | undefined
  let stop: AbortController | undefined
  let waiting: (() => void)[] = []

  function publish(snapshot: LiveSnapshot): void {
    const pieces = toPieces(snapshot)
    newest = { snapshot, pieces, change: formatChange(newest?.pieces, pieces) }
    version++
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }

  async function loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const started = clock.monotonicNanos()
      try {
        publish(await reader.take(signal))
      } catch (e) {
        if (!signal.aborted) log.warn('failed to read the dashboard data', { error: e })
      }
      const tookMs = Number((clock.monotonicNanos() - started) / 1_000_000n)
      await pause(clock, Math.max(reader.periodMs - tookMs, reader.periodMs / 4), signal)
    }
  }

  function enter(): void {
    watchers++
    if (stop !== undefined) return
    stop = new AbortController()
    // What was read long ago would make the first rates wrong, and the first picture old.
    newest = undefined
    void loop(stop.signal)
  }

  function leave(): void {
    watchers--
    if (watchers > 0) return
    stop?.abort(new Error('no dashboard is open'))
    stop = undefined
  }

  const next = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        resolve()
      }
      if (signal.aborted) return resolve()
      waiting.push(wake)
      signal.addEventListener('abort', wake, { once: true })
    })

  function wholeText(pieces: Pieces): string {
    if (whole?.version !== version) whole = { version, text: formatChange(undefined, pieces) }
    return whole.text
  }

  return {
    get watchers() {
      return watchers
    },
    snapshot: async (signal) =>
      stop !== undefined && newest !== undefined ? newest.snapshot : await reader.take(signal),
    async *watch(signal) {
      enter()
      try {
        let sent: number | undefined
        while (!signal.aborted) {
          if (newest === undefined || sent === version) await next(signal)
          if (signal.aborted || newest === undefined) continue
          const text = sent === version - 1 ? newest.change : wholeText(newest.pieces)
          sent = version
          yield text
        }
      } finally {
        leave()
      }
    },
  }
}
