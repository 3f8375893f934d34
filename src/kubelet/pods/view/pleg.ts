// The pod lifecycle event generator: notices that something of a pod has changed in the runtime and says which pod.
// Container events where the runtime has them, a relist each second where not; with the kubelet's metrics and health check.
import { rethrowBug } from '../../../core/errors.js'
import { pause } from '../../../core/units/retry.js'
import type { Clock } from '../../../ports/clock.js'
import type { Log } from '../../../ports/log.js'
import type { Metrics } from '../../../ports/metrics.js'
import type { RuntimeService } from '../../../ports/runtime.js'
import type { HealthCheck } from '../../../serve/health.js'
import { Wake } from '../run/wake.js'
import { labels } from '../to-cri/names.js'
import type { RuntimeView } from './runtime-view.js'

interface PlegOptions {
  readonly runtime: Pick<RuntimeService, 'getContainerEvents'>
  readonly view: RuntimeView
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly onChange: (uids: readonly string[]) => void
  readonly signal: AbortSignal
}

const relistMs = 1_000
/** With events the relist is only a safety net. Upstream's is five minutes; ids and states are cheap enough for one. */
const eventedRelistMs = 60_000
const reconnectMs = 1_000
const unhealthyNanos = 180n * 1_000_000_000n
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Pleg {
  readonly health: HealthCheck
  /** Resolves when the signal ends it. */
  readonly done: Promise<void>
}

export function startPleg(o: PlegOptions): Pleg {
  const { clock, metrics } = o
  const duration = metrics.histogram(
    'kubelet_pleg_relist_duration_seconds',
    'Duration in seconds for relisting pods in PLEG.',
    buckets,
  )
  const interval = metrics.histogram(
    'kubelet_pleg_relist_interval_seconds',
    'Interval in seconds between relisting in PLEG.',
    buckets,
  )
  const lastSeen = metrics.gauge(
    'kubelet_pleg_last_seen_seconds',
    'Timestamp in seconds when PLEG was last seen active.',
  )
  const state: PlegState = { evented: false, lastNanos: clock.monotonicNanos(), wake: new Wake(clock) }

  const relist = async (): Promise<void> => {
    const began = clock.monotonicNanos()
    interval.observe(Number(began - state.lastNanos) / 1e9)
    const changed = await o.view.relist(o.signal)
    state.lastNanos = clock.monotonicNanos()
    duration.observe(Number(state.lastNanos - began) / 1e9)
    lastSeen.set(Number(clock.nowNanos() / 1_000_000_000n))
    if (changed.length > 0) o.onChange(changed)
  }

  return {
    health: {
      name: 'pleg',
      aboutOthers: true,
      check() {
        const silent = clock.monotonicNanos() - state.lastNanos
        const limit = state.evented ? unhealthyNanos + BigInt(eventedRelistMs) * 1_000_000n : unhealthyNanos
        return silent > limit ? `pleg was last seen active ${silent / 1_000_000_000n} s ago` : undefined
      },
    },
    done: Promise.all([relistLoop(o, state, relist), eventLoop(o, state, relist)]).then(() => undefined),
  }
}

interface PlegState {
  evented: boolean
  lastNanos: bigint
  /** Of the relist loop. */
  readonly wake: Wake
}

async function relistLoop(o: PlegOptions, state: PlegState, relist: () => Promise<void>): Promise<void> {
  const { clock, log, signal } = o
  let isFailing = false
  while (!signal.aborted) {
    try {
      await relist()
      if (isFailing) log.info('listing pods works again')
      isFailing = false
    } catch (e) {
      if (signal.aborted) return
      const error = rethrowBug(e)
      if (!isFailing) log.warn('failed to list pods; retrying', { error })
      isFailing = true
    }
    const ms = state.evented ? eventedRelistMs : relistMs
    await state.wake.sleep(clock.monotonicNanos() + BigInt(ms) * 1_000_000n, signal)
  }
}

/** Ends for good with a runtime that does not implement the call; reconnects to one that was unreachable. */
async function eventLoop(o: PlegOptions, state: PlegState, relist: () => Promise<void>): Promise<void> {
  const { runtime, clock, log, signal } = o
  while (!signal.aborted) {
    try {
      const events = runtime.getContainerEvents({}, { timeoutMs: Number.POSITIVE_INFINITY, signal })
      for await (const event of events) {
        if (!state.evented) {
          log.info('the runtime sends container events; relisting pods once a minute')
          state.evented = true
        }
        const uid = event.podSandboxStatus?.labels[labels.podUid]
        if (uid === undefined) await relist()
        else o.onChange([uid])
      }
    } catch (e) {
      if (signal.aborted) return
      const error = rethrowBug(e)
      if (error.code === 'runtime.unimplemented') return
      log.debug('the stream of container events ended', { error })
    }
    // What happened since the last event is only in the lists.
    if (state.evented) state.wake.notify()
    state.evented = false
    await pause(clock, reconnectMs, signal)
  }
}
