// Whether and when a failed call to the API server is sent again, and what its error says about that.
import { isKeelsonError } from '../errors.js'

/** Details of `kubeapi.failed`. */
interface CallFailure {
  /** HTTP status; undefined: there was no answer. */
  readonly status?: number
  /** The server's one word, such as `AlreadyExists`. */
  readonly reason?: string
  readonly retryAfterMs?: number
  /** No answer, for a cause that may pass: the connection broke, or time ran out. */
  readonly passing?: boolean
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** Undefined: the error is not one of a call to the API server. */
export function callFailureOf(e: unknown): CallFailure | undefined {
  if (!isKeelsonError(e) || e.code !== 'kubeapi.failed') return undefined
  const { status, reason, retryAfterMs, passing } = e.details
  return {
    ...(numberOf(status) === undefined ? {} : { status: numberOf(status) as number }),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(numberOf(retryAfterMs) === undefined ? {} : { retryAfterMs: numberOf(retryAfterMs) as number }),
    passing: passing === true,
  }
}

/** HTTP status of a failed call; undefined: there was no answer. */
export const callStatusOf = (e: unknown): number | undefined => callFailureOf(e)?.status

const busyStatus = new Set([429, 500, 502, 503, 504])
const firstWaitMs = 200
const longestWaitMs = 5_000

interface RetryQuestion {
  readonly failure: CallFailure
  /** Failures so far, this one included. */
  readonly failures: number
  /** Whether doing it twice is the same as doing it once. */
  readonly idempotent: boolean
  /** 0 to 1. */
  readonly random: number
}

/** Undefined: sending it again does not help. A server that names a time is obeyed, also for what is not idempotent: it did nothing. */
export function retryWaitMs({ failure, failures, idempotent, random }: RetryQuestion): number | undefined {
  const { status, retryAfterMs, passing } = failure
  const isBusy = status !== undefined && busyStatus.has(status)
  if (isBusy && retryAfterMs !== undefined) return retryAfterMs
  if (status === 429) return backoffMs(failures, random)
  return idempotent && (isBusy || passing === true) ? backoffMs(failures, random) : undefined
}

const backoffMs = (failures: number, random: number): number =>
  Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs) * (1 + random / 2)

/** `Retry-After` in whole seconds; a date is not used by API servers. Bounded: a broken server must not stop a node for days. */
export function parseRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,9}$/.test(value.trim())) return undefined
  return Math.min(Number(value.trim()), 300) * 1000
}
