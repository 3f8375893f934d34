// Keeps a store in step with a collection of the API server: one list, then a watch that goes on where the last one ended.
// An expired place in the stream means a new list; every other failure is waited out.
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import { callFailureOf } from '../../core/kube/retry.js'
import { goneStatus, parseWatchEvent } from '../../core/kube/watch-event.js'
import type { Clock } from '../../ports/clock.js'
import type { ObjectList, ObjectStore } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import type { Recovery } from './recovery.js'

interface FollowOptions {
  /** For the log. */
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  /** A pause that may end early. */
  readonly rest: Recovery['rest']
  readonly signal: AbortSignal
  readonly store: ObjectStore
  list(): Promise<ObjectList>
  watch(resourceVersion: string): AsyncIterable<unknown>
}

const firstWaitMs = 800
const longestWaitMs = 30_000
/** A watch that lasted this long was healthy: the next failure is a first one. */
const quietNanos = 120_000_000_000n
/** Servers that end every watch at once must not be asked without a pause. */
const shortestWatchNanos = 1_000_000_000n

export async function followObjects(o: FollowOptions): Promise<void> {
  const { clock, log, signal } = o
  let place: string | undefined
  let waitMs = firstWaitMs
  const pause = (ms: number): Promise<void> => o.rest(ms * (1 + o.random() / 2), signal)
  while (!signal.aborted) {
    const begun = clock.monotonicNanos()
    try {
      if (place === undefined) {
        const { items, resourceVersion } = await o.list()
        if (signal.aborted) return
        o.store.replace(items)
        place = resourceVersion ?? '0'
      }
      for await (const line of o.watch(place)) place = take(line, o.store) ?? place
      const lasted = clock.monotonicNanos() - begun
      if (lasted < shortestWatchNanos) await pause(firstWaitMs)
      waitMs = firstWaitMs
    } catch (e) {
      if (signal.aborted) return
      const failure = callFailureOf(e)
      // A bug of ours must not be repeated every 30 s for ever.
      if (failure === undefined && asKeelsonError(e).code === 'internal.unexpected') throw e
      if (failure?.status === goneStatus) {
        log.debug('a watch has expired; listing again', { watch: o.name })
        place = undefined
      } else log.warn('a watch failed; retrying', { watch: o.name, error: asKeelsonError(e), waitMs })
      if (clock.monotonicNanos() - begun > quietNanos) waitMs = firstWaitMs
      await pause(Math.max(waitMs, failure?.retryAfterMs ?? 0))
      waitMs = Math.min(waitMs * 2, longestWaitMs)
    }
  }
}

/** The place after this event; undefined: it does not say. */
function take(line: unknown, store: ObjectStore): string | undefined {
  const event = parseWatchEvent(line)
  switch (event.kind) {
    case 'put':
      store.put(event.object)
      return event.resourceVersion
    case 'removed':
      store.remove(event.object)
      return event.resourceVersion
    case 'bookmark':
      return event.resourceVersion
    case 'expired':
      throw keelsonError('kubeapi.failed', 'the place in the watch is no longer known', {
        status: goneStatus,
      })
    case 'failed':
      throw keelsonError('kubeapi.failed', `the watch ended with: ${event.message}`, { status: event.status })
  }
}
