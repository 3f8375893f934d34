// One call over a channel: unary as a promise, server stream as an async iterable. Both have a deadline, stop
// on an AbortSignal, and leave no listener and no open stream behind.
import { setMaxListeners } from 'node:events'
import { type Client, Metadata } from '@grpc/grpc-js'
import type { DeepPartial, MessageFns } from '../../../cri-api/api.js'
import type { CallOptions } from '../../../ports/runtime.js'
import { type Decoder, decodeMessage, encodeMessage } from '../codec/codec.js'
import type { StateWatch } from './channel.js'
import type { FailedCall } from './classify-grpc-error.js'
import { cancelledCall, toRuntimeError } from './errors.js'

export interface Method<Q, S> {
  readonly name: string
  readonly path: string
  readonly requestType: MessageFns<Q>
  readonly responseType: Decoder<S>
}

/** What all calls of one client share. */
export interface CallContext {
  readonly client: Client
  readonly socket: string
  readonly timeoutMs: number
  /** Calls in progress; close() cancels them. Undefined: closed. */
  inProgress: Set<Cancellable> | undefined
  readonly connection: Pick<StateWatch, 'state'>
}

interface Cancellable {
  cancel(): void
}

function checkedTimeout(ctx: CallContext, options: CallOptions, mayBeInfinite: boolean): number {
  const timeoutMs = options.timeoutMs ?? ctx.timeoutMs
  if (timeoutMs > 0 && (mayBeInfinite || Number.isFinite(timeoutMs))) return timeoutMs
  throw new Error(`a call needs a timeout above 0, got ${timeoutMs}`)
}

function metadataFor(options: CallOptions): Metadata {
  return new Metadata(options.waitForReady === true ? { waitForReady: true } : {})
}

function refuseAborted(ctx: CallContext, method: string, signal: AbortSignal | undefined): void {
  if (ctx.inProgress === undefined) throw cancelledCall(method, ctx.socket, 'the client is closed')
  if (signal?.aborted) throw cancelledCall(method, ctx.socket, 'cancelled before it began')
}

/** One shutdown signal may end hundreds of calls, so Node's warning about many listeners is turned off. */
function track(ctx: CallContext, call: Cancellable, signal: AbortSignal | undefined): () => void {
  const cancel = (): void => call.cancel()
  if (signal !== undefined) {
    setMaxListeners(0, signal)
    signal.addEventListener('abort', cancel, { once: true })
  }
  ctx.inProgress?.add(call)
  return () => {
    signal?.removeEventListener('abort', cancel)
    ctx.inProgress?.delete(call)
  }
}

const describeFailed = (
  ctx: CallContext,
  method: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): FailedCall => ({
  method,
  socket: ctx.socket,
  timeoutMs,
  state: ctx.connection.state,
  cancelledByUs: signal?.aborted === true || ctx.inProgress === undefined,
})

export async function callUnary<Q, S>(
  ctx: CallContext,
  method: Method<Q, S>,
  request: DeepPartial<Q>,
  options: CallOptions = {},
): Promise<S> {
  refuseAborted(ctx, method.name, options.signal)
  const timeoutMs = checkedTimeout(ctx, options, false)
  const bytes = encodeMessage(method.requestType, request)
  let release = (): void => {}
  try {
    return await new Promise<S>((resolve, reject) => {
      const call = ctx.client.makeUnaryRequest<Buffer, S>(
        method.path,
        (encoded) => encoded,
        (answer) => decodeMessage(method.responseType, answer),
        bytes,
        metadataFor(options),
        { deadline: Date.now() + timeoutMs },
        (error, answer) => {
          if (error) reject(error)
          else if (answer === undefined) reject(new Error(`${method.name} ended without answer or error`))
          else resolve(answer)
        },
      )
      release = track(ctx, call, options.signal)
    })
  } catch (e) {
    throw await toRuntimeError(e, describeFailed(ctx, method.name, timeoutMs, options.signal))
  } finally {
    release()
  }
}

export async function* callStream<Q, S>(
  ctx: CallContext,
  method: Method<Q, S>,
  request: DeepPartial<Q>,
  options: CallOptions = {},
): AsyncGenerator<S, void, undefined> {
  refuseAborted(ctx, method.name, options.signal)
  const timeoutMs = checkedTimeout(ctx, options, true)
  const bytes = encodeMessage(method.requestType, request)
  const call = ctx.client.makeServerStreamRequest<Buffer, S>(
    method.path,
    (encoded) => encoded,
    (answer) => decodeMessage(method.responseType, answer),
    bytes,
    metadataFor(options),
    { deadline: timeoutMs === Number.POSITIVE_INFINITY ? timeoutMs : Date.now() + timeoutMs },
  )
  const release = track(ctx, call, options.signal)
  // The iterator below stops listening when a consumer leaves early; the CANCELLED that follows is expected.
  call.on('error', () => {})
  try {
    for await (const message of call) yield message as S
  } catch (e) {
    throw await toRuntimeError(e, describeFailed(ctx, method.name, timeoutMs, options.signal))
  } finally {
    release()
    call.cancel()
  }
}
