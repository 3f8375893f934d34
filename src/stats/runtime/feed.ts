// One kind of values from the runtime (stats, or metrics): whether the runtime has it, the loop that reads it, and whether
// the newest sample may be served. Stats and metrics are probed apart: runtimes have one without the other.
import { keelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { EndpointName, OwnCounters } from '../own-counters.js'
import type { Pace } from '../pace.js'
import { createSampler } from '../sampler.js'
import { isUnimplemented } from './calls.js'
import type { Inventory } from './inventory.js'

export type FeedState = 'unknown' | 'in-use' | 'unsupported' | 'failing'

export interface FeedStatus {
  readonly state: FeedState
  /** In a row. */
  readonly failures: number
}

export type Attempt = 'succeeded' | 'unsupported' | 'failed'

/** A runtime without the call is probed again after this, even if the connection never broke. */
const PROBE_AGAIN_MS = 3_600_000
/** A sample may be this many periods old: one for the wait, one for a slow answer, and a half. */
const MAX_AGE_PERIODS = 2.5
const MAX_BACKOFF_PERIODS = 6

export const initialStatus: FeedStatus = { state: 'unknown', failures: 0 }

/** The status after an attempt, and whether the cgroup source takes over with it. */
export function nextStatus(
  { state, failures }: FeedStatus,
  attempt: Attempt,
): { readonly status: FeedStatus; readonly isFallback: boolean } {
  if (attempt === 'succeeded') return { status: { state: 'in-use', failures: 0 }, isFallback: false }
  return {
    status: { state: attempt === 'unsupported' ? 'unsupported' : 'failing', failures: failures + 1 },
    isFallback: state === 'in-use' || state === 'unknown',
  }
}

/** A call that breaks things, as a dropped connection, must not be repeated at the pace of a healthy one. */
export const retryAfterMs = ({ state, failures }: FeedStatus, periodMs: number): number =>
  state === 'unsupported' ? PROBE_AGAIN_MS : periodMs * Math.min(2 ** (failures - 1), MAX_BACKOFF_PERIODS)

export interface RuntimeFeed<T> {
  readonly state: FeedState
  /** The newest sample. Undefined: there is none that may be served, so the cgroup source answers. */
  current(): T | undefined
  /** The newest sample, however old. */
  last(): T | undefined
  readonly firstAttempt: Promise<void>
  /** Called after each failure: cgroups have to be read now. */
  onFailure(listener: () => void): void
  /** After a reconnect: the runtime may have what it did not have before. */
  probeAgain(): void
  /** Asks the runtime now, where it has the call; resolves when it has answered, or after so long. */
  refresh(waitMs: number, signal: AbortSignal): Promise<void>
  run(signal: AbortSignal): Promise<void>
}

export interface RuntimeFeedOptions<T> {
  readonly endpoint: EndpointName
  readonly clock: Clock
  readonly log: Log
  readonly counters: OwnCounters
  readonly periodMs: number
  readonly pace: Pace
  /** False on Windows: there is no fallback then. */
  readonly hasCgroups: boolean
  read(signal: AbortSignal): Promise<T>
}

export function createRuntimeFeed<T>(o: RuntimeFeedOptions<T>): RuntimeFeed<T> {
  const { endpoint, periodMs, pace, hasCgroups } = o
  let status = initialStatus
  let notifyFailure = (): void => {}

  function record(attempt: Attempt, error?: unknown): void {
    const before = status.state
    const next = nextStatus(status, attempt)
    status = next.status
    if (hasCgroups && next.isFallback) o.counters.fellBack(endpoint)
    if (status.state === before) return
    if (status.state === 'in-use') o.log.info('pod stats come from the runtime', { endpoint })
    else
      o.log.warn(
        hasCgroups
          ? 'the runtime gives no pod stats; falling back to cgroups'
          : `the runtime gives no pod ${endpoint}, and this node has no cgroups to fall back to`,
        { endpoint, state: status.state, ...(error === undefined ? {} : { error }) },
      )
  }

  const sampler = createSampler<T>({
    clock: o.clock,
    periodMs,
    async read(signal) {
      const value = await o.read(signal)
      record('succeeded')
      return value
    },
    onFailure(e) {
      const attempt = isUnimplemented(e) ? 'unsupported' : 'failed'
      if (attempt === 'failed') o.counters.failed(endpoint)
      record(attempt, e)
      notifyFailure()
      return retryAfterMs(status, periodMs)
    },
    nextMs: () => pace.periodMs(),
    onLate: () => o.counters.late(`cri-${endpoint}`),
  })

  return {
    get state() {
      return status.state
    },
    current() {
      const age = sampler.ageMs()
      const isServable =
        status.state === 'in-use' && age !== undefined && age <= pace.periodMs() * MAX_AGE_PERIODS
      return isServable ? sampler.newest() : undefined
    },
    last: () => sampler.newest(),
    firstAttempt: sampler.firstAttempt,
    onFailure(listener) {
      notifyFailure = listener
    },
    probeAgain() {
      // A failing one keeps its pace: its own call may be what ended the connection.
      if (status.state === 'unsupported') sampler.wake()
    },
    async refresh(waitMs, signal) {
      // A failing one keeps its pace.
      if (status.state === 'in-use') await sampler.refresh(waitMs, signal)
    },
    run: (signal) => sampler.run(signal),
  }
}

/** An answer without any of the running containers counts as a failure: a node never looks empty while pods run. */
export function rejectEmptySample(
  rpc: string,
  { pods }: Inventory,
  sample: { readonly missing: number },
): void {
  const running = pods.reduce((n, pod) => n + pod.containers.length, 0)
  if (running > 0 && sample.missing === running)
    throw keelsonError('runtime.failed', `call ${rpc}: the answer has none of ${running} running containers`)
}
