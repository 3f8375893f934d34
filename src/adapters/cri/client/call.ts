// One call through a channel: unary as a promise, server stream as an async iterable. Both have a deadline, stop
// on an AbortSignal, and leave no listener and no open stream behind.
import type { DeepPartial, MessageFns } from '../../../cri-api/api.js'
import type { CallOptions } from '../../../ports/runtime.js'
import { type Decoder, decodeMessage, encodeMessage } from '../codec/codec.js'
import { CallFailure } from './call-failure.js'
import { CallLife } from './call-life.js'
import type { Channel } from './channel.js'
import { type Exchange, exchange } from './exchange.js'
import { cancelledCall, toRuntimeError } from './to-runtime-error.js'

export interface Method<Q, S> {
  readonly name: string
  readonly path: string
  readonly requestType: MessageFns<Q>
  readonly responseType: Decoder<S>
}

/** What all calls of one client share. */
export interface CallContext {
  readonly channel: Channel
  readonly socket: string
  readonly timeoutMs: number
  /** Largest message taken from the runtime. */
  readonly maxReceiveBytes: number
  /** Calls in progress; close() cancels them. Undefined: closed. */
  inProgress: Set<CallLife> | undefined
}

function begin(
  ctx: CallContext,
  method: string,
  { timeoutMs = ctx.timeoutMs, signal }: CallOptions,
  mayBeInfinite: boolean,
): CallLife {
  if (ctx.inProgress === undefined) throw cancelledCall(method, ctx.socket, 'the client is closed')
  if (signal?.aborted) throw cancelledCall(method, ctx.socket, 'cancelled before it began')
  if (!(timeoutMs > 0 && (mayBeInfinite || Number.isFinite(timeoutMs))))
    throw new Error(`a call needs a timeout above 0, got ${timeoutMs}`)
  return new CallLife(ctx.inProgress, timeoutMs, signal)
}

async function send<Q, S>(
  ctx: CallContext,
  method: Method<Q, S>,
  message: Uint8Array,
  life: CallLife,
  options: CallOptions,
  onMessage: Exchange['onMessage'],
): Promise<ReturnType<typeof exchange>> {
  const began = performance.now()
  const connection = await ctx.channel.connection(options.waitForReady === true, life.signal)
  // The client may have been closed by whoever was told of the connection.
  life.signal.throwIfAborted()
  if (!connection.takesCalls) throw new CallFailure('broken', 'the connection was closed before the call')
  const left = Math.max(1, life.timeoutMs - (performance.now() - began))
  const what = {
    path: method.path,
    message,
    timeoutMs: Number.isFinite(left) ? left : undefined,
    maxReceiveBytes: ctx.maxReceiveBytes,
    onMessage,
  }
  return exchange(connection, what, life.signal)
}

function decode<S>(type: Decoder<S>, message: Uint8Array): S {
  try {
    return decodeMessage(type, message)
  } catch (cause) {
    throw new CallFailure('malformed', 'the message cannot be decoded', { cause })
  }
}

export async function callUnary<Q, S>(
  ctx: CallContext,
  method: Method<Q, S>,
  request: DeepPartial<Q>,
  options: CallOptions = {},
): Promise<S> {
  const life = begin(ctx, method.name, options, false)
  try {
    const messages: Buffer[] = []
    const bytes = encodeMessage(method.requestType, request)
    const { call, ended } = await send(ctx, method, bytes, life, options, (m) => messages.push(m))
    await ended.finally(() => {
      // The runtime is slow, or the connection is dead without anybody having been told.
      if (life.signal.reason instanceof CallFailure && life.signal.reason.kind === 'deadline')
        call.doubtConnection()
    })
    const [message, ...more] = messages
    if (message === undefined || more.length > 0)
      throw new CallFailure('malformed', `${messages.length} messages where one is expected`)
    return decode(method.responseType, message)
  } catch (e) {
    throw await failed(e, ctx, method.name, life)
  } finally {
    life.end()
  }
}

export async function* callStream<Q, S>(
  ctx: CallContext,
  method: Method<Q, S>,
  request: DeepPartial<Q>,
  options: CallOptions = {},
): AsyncGenerator<S, void, undefined> {
  const life = begin(ctx, method.name, options, true)
  const waiting: Buffer[] = []
  let wake = (): void => {}
  let isOver = false
  let cancel = (): void => {}
  try {
    const bytes = encodeMessage(method.requestType, request)
    const { call, ended } = await send(ctx, method, bytes, life, options, (message) => {
      waiting.push(message)
      // A reader that is slow holds the runtime back.
      call.stream.pause()
      wake()
    })
    cancel = () => call.cancel()
    const over = ended.finally(() => {
      isOver = true
      wake()
    })
    over.catch(() => {}) // thrown below, after the messages that came before
    for (;;) {
      const message = waiting.shift()
      if (message !== undefined) yield decode(method.responseType, message)
      else if (isOver) return await over
      else
        await new Promise<void>((resolve) => {
          wake = resolve
          call.stream.resume()
        })
    }
  } catch (e) {
    throw await failed(e, ctx, method.name, life)
  } finally {
    life.end()
    cancel()
  }
}

const failed = (
  e: unknown,
  { channel, socket }: CallContext,
  method: string,
  { timeoutMs }: CallLife,
): Promise<Error> => toRuntimeError(e, { method, socket, timeoutMs, state: channel.state })
