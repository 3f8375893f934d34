// A call that failed, before anybody has said what that means: how it failed, and the status that goes with it.
import { grpcCode } from '../../../core/cri/grpc-codes.js'

/**
 * `answered`: the runtime's own status. `unreachable`: no connection came about. `foreign`: the peer does not speak gRPC.
 * `broken`: the stream or the connection ended before the answer. `malformed`, `too-large`: the answer. `deadline`: ours passed.
 * `cancelled`: by us.
 */
type FailureKind =
  | 'answered'
  | 'unreachable'
  | 'foreign'
  | 'broken'
  | 'malformed'
  | 'too-large'
  | 'deadline'
  | 'cancelled'

const codes: Readonly<Record<Exclude<FailureKind, 'answered'>, number>> = {
  unreachable: grpcCode.unavailable,
  foreign: grpcCode.internal,
  broken: grpcCode.unavailable,
  malformed: grpcCode.internal,
  'too-large': grpcCode.resourceExhausted,
  deadline: grpcCode.deadlineExceeded,
  cancelled: grpcCode.cancelled,
}

interface Known {
  readonly code?: number
  /** The runtime's `grpc-status-details-bin`. */
  readonly statusDetails?: Uint8Array | undefined
  readonly cause?: unknown
}

export class CallFailure extends Error {
  readonly kind: FailureKind
  readonly code: number
  readonly statusDetails: Uint8Array | undefined

  constructor(kind: FailureKind, text: string, { code, statusDetails, cause }: Known = {}) {
    super(text, { cause })
    this.kind = kind
    this.code = code ?? (kind === 'answered' ? grpcCode.unknown : codes[kind])
    this.statusDetails = statusDetails
  }
}
