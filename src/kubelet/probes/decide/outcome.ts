// What one run of a probe came to, and what is said about it.
import type { ProbeType } from '../../../core/pod/spec/handlers.js'
import { formatGoDuration } from '../../../core/units/go-duration.js'
import type { HealthAnswer } from '../../../ports/network/probe-calls.js'

export type ProbeOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'warning'; readonly output: string }
  | { readonly kind: 'failure'; readonly output: string }
  /** The probe could not be run: tried again, and then it says nothing about the container. */
  | { readonly kind: 'error'; readonly message: string }

const titles: Readonly<Record<ProbeType, string>> = {
  startup: 'Startup',
  readiness: 'Readiness',
  liveness: 'Liveness',
}
export const probeTitle = (type: ProbeType): string => titles[type]

/** The event of an outcome, in the kubelet's words; undefined: none. */
export function probeEvent(
  type: ProbeType,
  outcome: ProbeOutcome,
): { readonly reason: string; readonly message: string } | undefined {
  const title = titles[type]
  switch (outcome.kind) {
    case 'success':
      return undefined
    case 'warning':
      return { reason: 'ProbeWarning', message: `${title} probe warning: ${outcome.output}` }
    case 'failure':
      return { reason: 'Unhealthy', message: `${title} probe failed: ${outcome.output}` }
    case 'error':
      return {
        reason: 'Unhealthy',
        message: `${title} probe errored and resulted in unknown state: ${outcome.message}`,
      }
  }
}

const serving = 1
const unimplemented = 12
const deadlineExceeded = 4
/** By number, as gRPC prints them. */
const codeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
]
const codeName = (code: number): string => codeNames[code] ?? `Code(${code})`
const statusNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']

export function outcomeOfHealth(answer: HealthAnswer, address: string, timeoutSeconds: number): ProbeOutcome {
  const within = formatGoDuration(BigInt(timeoutSeconds) * 1_000_000_000n)
  const failure = (output: string): ProbeOutcome => ({ kind: 'failure', output })
  const late = failure(`timeout: health rpc did not complete within ${within}`)
  switch (answer.kind) {
    case 'timeout':
      return late
    case 'not-connected':
      return answer.why === 'timeout'
        ? failure(`timeout: failed to connect service "${address}" within ${within}: ${answer.message}`)
        : failure(`error: failed to connect service at "${address}": ${answer.message}`)
    case 'refused':
      if (answer.code === deadlineExceeded) return late
      return answer.code === unimplemented
        ? failure(
            `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${answer.message}`,
          )
        : failure(
            `error: health rpc probe failed: rpc error: code = ${codeName(answer.code)} desc = ${answer.message}`,
          )
    case 'status':
      return answer.status === serving
        ? { kind: 'success' }
        : failure(`service unhealthy (responded with "${statusNames[answer.status] ?? answer.status}")`)
  }
}
