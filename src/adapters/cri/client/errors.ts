// The one place where a gRPC status becomes a KeelsonError. What it means: classify-grpc-error.ts.
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { type KeelsonError, keelsonError } from '../../../core/errors.js'
import type { RuntimeErrorDetails } from '../../../ports/runtime.js'
import { classify, type FailedCall, isOwnDeadline } from './classify-grpc-error.js'

const isServiceError = (e: unknown): e is ServiceError =>
  e instanceof Error && 'details' in e && 'metadata' in e && 'code' in e && typeof e.code === 'number'

/** Some decoding failures leave grpc-js as errors without a code; only an unreadable answer makes them. */
const asServiceError = (e: unknown): ServiceError =>
  isServiceError(e)
    ? e
    : Object.assign(new Error('unreadable answer', { cause: e }), {
        code: status.INTERNAL,
        details: 'Response message parsing error',
        metadata: new Metadata(),
      })

/** `No connection established. Last error: connect ENOENT /x (2026-...)...` to `connect ENOENT /x`. */
const tidy = (text: string): string =>
  /^No connection established\. Last error: (?:Error: )?(.*?)(?: \(\d{4}-[^)]*\))?\.? Resolution note/.exec(
    text,
  )?.[1] ?? text

export async function toRuntimeError(failure: unknown, call: FailedCall): Promise<KeelsonError> {
  const e = asServiceError(failure)
  const { code, remedy } = await classify(e, call)
  // grpc-js calls a cut-off answer UNIMPLEMENTED; a reader of the code must not conclude that the runtime is old.
  const misnamed = e.code === status.UNIMPLEMENTED && code !== 'runtime.unimplemented'
  const grpcCode = misnamed ? 'INTERNAL' : (status[e.code] ?? String(e.code))
  const bin = e.metadata.get('grpc-status-details-bin')[0]
  const details: RuntimeErrorDetails = {
    method: call.method,
    socket: call.socket,
    grpcCode,
    grpcMessage: e.details,
    ...(bin instanceof Uint8Array ? { statusDetails: bin } : {}),
  }
  const what = isOwnDeadline(e) ? `no answer within ${call.timeoutMs} ms` : tidy(e.details) || 'no message'
  const message = `call ${call.method} at ${call.socket}: ${grpcCode}: ${what}; ${remedy}`
  return keelsonError(code, message, { ...details }, e)
}

export const cancelledCall = (method: string, socket: string, why: string): KeelsonError =>
  keelsonError('runtime.cancelled', `call ${method} at ${socket}: CANCELLED: ${why}`, {
    method,
    socket,
    grpcCode: 'CANCELLED',
    grpcMessage: why,
  } satisfies RuntimeErrorDetails)
