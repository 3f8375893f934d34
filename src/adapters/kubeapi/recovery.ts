// Waiting for a server that does not answer: those who wait are woken when any call is answered again, so that a node catches
// up within a second and not after its longest pause.
import type { Clock } from '../../ports/clock.js'

export interface Recovery {
  /** Sleeps; ends early, spread over a second, when the server answers again. Never rejects. */
  rest(ms: number, signal: AbortSignal): Promise<void>
  failed(): void
  answered(): void
}

const spreadMs = 1_000

export function createRecovery(clock: Pick<Clock, 'sleep'>, random: () => number): Recovery {
  let isFailing = false
  const resting = new Set<AbortController>()
  return {
    async rest(ms, signal) {
      const early = new AbortController()
      const onAbort = (): void => early.abort()
      signal.addEventListener('abort', onAbort, { once: true })
      resting.add(early)
      try {
        await clock.sleep(ms, early.signal)
      } catch {
        // Woken. Hundreds of watches must not come back in one moment.
        if (!signal.aborted)
          await clock.sleep(random() * Math.min(ms, spreadMs), signal).catch(() => undefined)
      } finally {
        resting.delete(early)
        signal.removeEventListener('abort', onAbort)
      }
    },
    failed() {
      isFailing = true
    },
    answered() {
      if (!isFailing) return
      isFailing = false
      for (const one of resting) one.abort()
    },
  }
}
