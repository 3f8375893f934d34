// One kind of values from the runtime (stats, or metrics): whether the runtime has it, the loop that takes it, and
// whether the newest sample may be served. Stats and metrics are probed apart: runtimes have one without the other.
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { EndpointName, OwnCounters } from '../own-counters.js'
import { createSampler, type Sampler } from '../sampler.js'
import { isUnimplemented } from './calls.js'

export type PartState = 'unknown' | 'in-use' | 'unsupported' | 'failing'

export interface CriPart<T> {
  readonly state: PartState
  /** Undefined: the cgroup source has to answer. */
  fresh(): T | undefined
  /** The newest there is, however old. */
  newest(): T | undefined
  readonly firstAttempt: Promise<void>
  /** After a reconnect: what the runtime did not have, it may have now. */
  probeAgain(): void
  run(signal: AbortSignal): Promise<void>
}

export interface CriPartOptions<T> {
  readonly endpoint: EndpointName
  readonly clock: Clock
  readonly log: Log
  readonly counters: OwnCounters
  readonly periodMs: number
  /** False on Windows: then nothing stands in for the runtime. */
  readonly hasCgroups: boolean
  take(signal: AbortSignal): Promise<T>
  /** The cgroup source is wanted, now. */
  readonly onLost: () => void
}

/** A runtime that did not have it is asked again after this, even if it never went away. */
const PROBE_AGAIN_MS = 3_600_000
/** A sample may be this many periods old: one for the wait, one for a slow answer, and a half. */
const FRESH_PERIODS = 2.5
const MOST_PERIODS = 6

export function createCriPart<T>(o: CriPartOptions<T>): CriPart<T> {
  let state: PartState = 'unknown'
  let failures = 0
  const change = (next: PartState, error?: unknown): void => {
    if (state === next) return
    const before = state
    state = next
    if (next === 'in-use') o.log.info('values of pods come from the runtime', { endpoint: o.endpoint })
    else
      o.log.warn(
        o.hasCgroups
          ? 'the runtime does not give values of pods; they are read from cgroups'
          : `the runtime does not give the ${o.endpoint} of pods, and this node has no cgroups to read them from`,
        {
          endpoint: o.endpoint,
          state: next,
          ...(error === undefined ? {} : { error }),
        },
      )
    const wasUsed = before === 'in-use' || before === 'unknown'
    if (o.hasCgroups && wasUsed && next !== 'in-use') o.counters.fellBack(o.endpoint)
  }
  const sampler: Sampler<T> = createSampler({
    clock: o.clock,
    periodMs: o.periodMs,
    async take(signal) {
      const value = await o.take(signal)
      failures = 0
      change('in-use')
      return value
    },
    onFailure(e) {
      const unsupported = isUnimplemented(e)
      if (!unsupported) o.counters.failed(o.endpoint)
      change(unsupported ? 'unsupported' : 'failing', e)
      o.onLost()
      // A call that breaks things, as a dropped connection, must not be repeated at the pace of a healthy one.
      const periods = Math.min(2 ** failures++, MOST_PERIODS)
      return unsupported ? PROBE_AGAIN_MS : o.periodMs * periods
    },
    onLate: () => o.counters.late(`cri-${o.endpoint}`),
  })
  return {
    get state() {
      return state
    },
    fresh() {
      const age = sampler.ageMs()
      const usable = state === 'in-use' && age !== undefined && age <= o.periodMs * FRESH_PERIODS
      return usable ? sampler.newest()?.value : undefined
    },
    newest: () => sampler.newest()?.value,
    firstAttempt: sampler.firstAttempt,
    probeAgain() {
      // One that fails keeps its pace: its own call may be what ended the connection.
      if (state === 'unsupported') sampler.wake()
    },
    run: (signal) => sampler.run(signal),
  }
}
