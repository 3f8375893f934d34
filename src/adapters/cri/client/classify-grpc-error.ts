// What a failed call means and what to try. grpc-js reports some transport faults under codes that mean
// something else in CRI, so its own texts decide before the code. They are anchored: a runtime's message that
// merely quotes one must not match.
import { stat } from 'node:fs/promises'
import { type ServiceError, status } from '@grpc/grpc-js'
import type { ErrorCode } from '../../../core/errors.js'
import type { ConnectionState } from '../../../ports/runtime.js'

export interface FailedCall {
  readonly method: string
  readonly socket: string
  readonly timeoutMs: number
  /** Of the connection, when the call had failed. */
  readonly state: ConnectionState
  /** By its AbortSignal, or by closing the client. */
  readonly cancelledByUs: boolean
}

interface Finding {
  readonly code: ErrorCode
  readonly remedy: string
}

const finding = (code: ErrorCode, remedy: string): Finding => ({ code, remedy })

const notGrpc = finding('runtime.socket', 'this socket does not speak gRPC; is it the CRI socket?')
const noSocket = finding('runtime.socket', 'the path is not a socket; check the endpoint')
const denied = finding('runtime.socket', 'run as root or join the group of the socket')
const missing = finding('runtime.unavailable', 'no such socket; is the runtime installed and running?')
const refused = finding('runtime.unavailable', 'nothing listens there; start the runtime')
const broken = finding('runtime.unavailable', 'the connection broke; the next call reconnects')
const malformed = finding(
  'runtime.malformed',
  'the answer is truncated or not a CRI v1 message; is this a CRI v1 runtime?',
)
const tooLarge = finding('runtime.too-large', 'raise the receive limit or use a filter')
const unreachable = finding(
  'runtime.deadline',
  'the runtime was unreachable until the deadline; is it running?',
)
/** Connected, but no HTTP/2 settings came: a foreign protocol that waits for its client, or a stopped process. */
const silent = finding(
  'runtime.deadline',
  'the socket accepts connections but sends nothing; does the runtime hang, or is it another socket?',
)
const failed = finding('runtime.failed', "see the runtime's log")

const transportTexts: readonly (readonly [RegExp, Finding])[] = [
  [/^No connection established\..* connect (EACCES|EPERM)/, denied],
  [/^No connection established\..* connect (ENOTSOCK|EPROTOTYPE|ENOTDIR)/, noSocket],
  [/^No connection established\..* connect ENOENT/, missing],
  [/^No connection established\..* connect ECONNREFUSED/, refused],
  [/^No connection established\..*(Protocol error|NGHTTP2_|ERR_HTTP2)/, notGrpc],
  [/^Received HTTP status code /, notGrpc],
  [
    /^(No message received$|Response message parsing error|Failed to decompress |No status information )/,
    malformed,
  ],
  [/^(Received RST_STREAM |Connection dropped$|Stream refused by server$|(read|write) E[A-Z]+$)/, broken],
  [/^Received message (larger than max|that decompresses to a size larger)/, tooLarge],
  // Go's gRPC server, when its own send limit is hit.
  [/^grpc: trying to send message larger than max/, tooLarge],
]

const byCode: Partial<Record<status, Finding>> = {
  [status.UNIMPLEMENTED]: finding(
    'runtime.unimplemented',
    'the runtime does not implement this call; upgrade it or put keelson cri in front',
  ),
  [status.NOT_FOUND]: finding('runtime.not-found', 'the object may just have been removed'),
  [status.UNAVAILABLE]: finding('runtime.unavailable', 'is the runtime running?'),
  [status.DEADLINE_EXCEEDED]: finding(
    'runtime.deadline',
    'check the load and the log of the runtime, or raise the timeout',
  ),
}

/** A length that no runtime sends: text or noise where a frame should begin. */
const absurdBytes = 1024 * 1024 * 1024

/** Our deadline passed, as against a DEADLINE_EXCEEDED that the runtime answered. */
export const isOwnDeadline = (e: ServiceError): boolean =>
  e.code === status.DEADLINE_EXCEEDED && e.details.startsWith('Deadline exceeded')

export async function classify(e: ServiceError, call: FailedCall): Promise<Finding> {
  if (e.code === status.CANCELLED && call.cancelledByUs)
    return finding('runtime.cancelled', 'the caller ended the call')
  if (isOwnDeadline(e) && call.state === 'backoff') return unreachable
  if (isOwnDeadline(e) && call.state === 'connecting') return silent
  const found = transportTexts.find(([text]) => text.test(e.details))?.[1] ?? byCode[e.code] ?? failed
  if (found === refused && (await isOtherFile(call.socket))) return noSocket
  if (found === tooLarge && claimedBytes(e.details) >= absurdBytes) return malformed
  return found
}

const claimedBytes = (text: string): number => Number(/\((\d+) vs/.exec(text)?.[1] ?? 0)

/** Connecting to a regular file or a directory says ECONNREFUSED too. */
async function isOtherFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isSocket()
  } catch {
    return false
  }
}
