// What a failed call means and what to try.
import { stat } from 'node:fs/promises'
import { grpcCode } from '../../../core/cri/grpc-codes.js'
import type { ErrorCode } from '../../../core/errors.js'
import type { ConnectionState } from '../../../ports/runtime.js'
import type { CallFailure } from './call-failure.js'

export interface FailedCall {
  readonly method: string
  readonly socket: string
  readonly timeoutMs: number
  /** Of the connection, when the call had failed. */
  readonly state: ConnectionState
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
const unavailable = finding('runtime.unavailable', 'is the runtime running?')
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
const late = finding('runtime.deadline', 'check the load and the log of the runtime, or raise the timeout')
const cancelled = finding('runtime.cancelled', 'the caller ended the call')
const failed = finding('runtime.failed', "see the runtime's log")

/** What the system says of a socket that cannot be connected to. */
const byErrno: Readonly<Record<string, Finding>> = {
  EACCES: denied,
  EPERM: denied,
  ENOTSOCK: noSocket,
  EPROTOTYPE: noSocket,
  ENOTDIR: noSocket,
  ENOENT: missing,
  ECONNREFUSED: refused,
}

/** What the runtime itself answered. */
const byCode: Readonly<Record<number, Finding>> = {
  [grpcCode.unimplemented]: finding(
    'runtime.unimplemented',
    'the runtime does not implement this call; upgrade it or put keelson cri in front',
  ),
  [grpcCode.notFound]: finding('runtime.not-found', 'the object may just have been removed'),
  [grpcCode.unavailable]: unavailable,
  [grpcCode.deadlineExceeded]: late,
}

/** Go's gRPC server, when its own send limit is hit. Anchored: a message that merely quotes it must not match. */
const sendLimit = /^grpc: trying to send message larger than max/

export async function classify(failure: CallFailure, { state, socket }: FailedCall): Promise<Finding> {
  switch (failure.kind) {
    case 'answered':
      return sendLimit.test(failure.message) ? tooLarge : (byCode[failure.code] ?? failed)
    case 'unreachable':
      return await whyUnreachable(failure.cause, socket)
    case 'deadline':
      return state === 'backoff' ? unreachable : state === 'connecting' ? silent : late
    case 'foreign':
      return notGrpc
    case 'broken':
      return broken
    case 'malformed':
      return malformed
    case 'too-large':
      return tooLarge
    case 'cancelled':
      return cancelled
  }
}

async function whyUnreachable(cause: unknown, socket: string): Promise<Finding> {
  const errno = String((cause as NodeJS.ErrnoException | undefined)?.code ?? '')
  if (errno.startsWith('ERR_HTTP2')) return notGrpc
  const found = byErrno[errno] ?? unavailable
  return found === refused && (await isOtherFile(socket)) ? noSocket : found
}

/** Connecting to a regular file or a directory says ECONNREFUSED too. */
async function isOtherFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isSocket()
  } catch {
    return false
  }
}
