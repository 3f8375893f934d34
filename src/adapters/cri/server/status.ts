// The table from our errors to gRPC statuses, and how a status is written into headers. A status that came from the
// runtime never passes here.
import type { OutgoingHttpHeaders } from 'node:http2'
import { grpcCode, grpcCodeNames } from '../../../core/cri/grpc-codes.js'
import { asKeelsonError, type ErrorCode } from '../../../core/errors.js'
import type { GrpcStatus } from '../../../ports/cri-calls.js'
import type { RuntimeErrorDetails } from '../../../ports/runtime.js'

const byError: Partial<Record<ErrorCode, number>> = {
  'request.invalid': grpcCode.invalidArgument,
  'request.too-large': grpcCode.resourceExhausted,
  'request.timeout': grpcCode.deadlineExceeded,
  'runtime.socket': grpcCode.unavailable,
  'runtime.unavailable': grpcCode.unavailable,
  'runtime.deadline': grpcCode.deadlineExceeded,
  'runtime.cancelled': grpcCode.cancelled,
  'runtime.unimplemented': grpcCode.unimplemented,
  'runtime.not-found': grpcCode.notFound,
  'runtime.too-large': grpcCode.resourceExhausted,
  'runtime.malformed': grpcCode.internal,
  'cgroup.gone': grpcCode.notFound,
  'cgroup.invalid-value': grpcCode.invalidArgument,
  'cgroup.controller-missing': grpcCode.failedPrecondition,
}

/** An error that carries the runtime's own status gives that one back; everything else goes through the table. */
export function toStatus(e: unknown): GrpcStatus {
  const error = asKeelsonError(e)
  const { grpcCode: name, grpcMessage } = error.details as Partial<RuntimeErrorDetails>
  const own = name === undefined ? -1 : (grpcCodeNames as readonly string[]).indexOf(name)
  if (error.code === 'runtime.failed' && own > 0) return { code: own, message: grpcMessage ?? error.message }
  return { code: byError[error.code] ?? grpcCode.internal, message: `keelson: ${error.message}` }
}

/** Only what the gRPC specification names is encoded: some clients do not decode the rest. */
const encodeStatusText = (text: string): string =>
  [...Buffer.from(text)]
    .map((b) =>
      b >= 0x20 && b <= 0x7e && b !== 0x25
        ? String.fromCharCode(b)
        : `%${b.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')

/** A status line longer than this would break peers that bound their header lists. */
const maxText = 2048

export const statusHeaders = ({ code, message }: GrpcStatus): OutgoingHttpHeaders => ({
  'grpc-status': String(code),
  ...(message === '' ? {} : { 'grpc-message': encodeStatusText(message.slice(0, maxText)) }),
})

export const responseHeaders = { ':status': 200, 'content-type': 'application/grpc' } as const
