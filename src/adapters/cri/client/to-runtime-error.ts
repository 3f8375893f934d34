// The one place where a failed call becomes a KeelsonError. What it means: classify-failure.ts.
import { grpcCodeNames } from '../../../core/cri/grpc-codes.js'
import { type KeelsonError, keelsonError } from '../../../core/errors.js'
import type { RuntimeErrorDetails } from '../../../ports/runtime.js'
import { CallFailure } from './call-failure.js'
import { classify, type FailedCall } from './classify-failure.js'

/** What is no failed call is a bug, and stays as it is. */
export async function toRuntimeError(failure: unknown, call: FailedCall): Promise<Error> {
  if (!(failure instanceof CallFailure))
    return failure instanceof Error ? failure : new Error(String(failure))
  return await ofCall(failure, call)
}

async function ofCall(failure: CallFailure, call: FailedCall): Promise<KeelsonError> {
  const { code, remedy } = await classify(failure, call)
  const grpcCode = grpcCodeNames[failure.code] ?? String(failure.code)
  const details: RuntimeErrorDetails = {
    method: call.method,
    socket: call.socket,
    grpcCode,
    grpcMessage: failure.message,
    ...(failure.statusDetails && { statusDetails: failure.statusDetails }),
  }
  const what =
    failure.kind === 'deadline' ? `no answer within ${call.timeoutMs} ms` : failure.message || 'no message'
  const message = `call ${call.method} at ${call.socket}: ${grpcCode}: ${what}; ${remedy}`
  return keelsonError(code, message, { ...details }, failure)
}

export const cancelledCall = (method: string, socket: string, why: string): KeelsonError =>
  keelsonError('runtime.cancelled', `call ${method} at ${socket}: CANCELLED: ${why}`, {
    method,
    socket,
    grpcCode: 'CANCELLED',
    grpcMessage: why,
  } satisfies RuntimeErrorDetails)
