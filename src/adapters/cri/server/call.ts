// One call of a client, with everything that a handler may do with it: forward it unread, or read it, ask the runtime, and
// answer.
import { once, setMaxListeners } from 'node:events'
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { grpcCode } from '../../../core/cri/grpc-codes.js'
import { isKeelsonError, keelsonError } from '../../../core/errors.js'
import type {
  CallEnding,
  GrpcStatus,
  HeldBack,
  Maker,
  RawMetadata,
  ServerCall,
  WholeAnswer,
} from '../../../ports/cri-calls.js'
import type { RuntimeCall } from '../connection/connection.js'
import { readWhole } from '../upstream/ask.js'
import { forwardAnswer, forwardRequest } from '../upstream/forward.js'
import type { Upstream } from '../upstream/upstream.js'
import { frameMessage, framePieces, unframeOne } from './grpc-frames.js'
import { findHeader, parseGrpcTimeout, sensitiveIn, toHeaders } from './grpc-headers.js'
import { Reply } from './reply.js'
import { responseHeaders, statusHeaders, toStatus } from './status.js'

const { NGHTTP2_FLAG_END_STREAM } = constants

/** Requests that we read are held whole; CRI's are a few KiB. */
const maxRequestBytes = 16 * 1024 * 1024

/** Left out where we write the message ourselves: it is not compressed. */
const ofThisHop: ReadonlySet<string> = new Set(['grpc-encoding', 'grpc-accept-encoding', 'content-length'])
const ofAnswerHead: ReadonlySet<string> = new Set([':status', 'content-type', 'date'])
const nothing: ReadonlySet<string> = new Set()

const cutShort = (cause?: unknown): Error =>
  keelsonError('runtime.cancelled', 'the caller ended the call before its request was complete', {}, cause)

interface Incoming {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly flags: number
  readonly raw: RawMetadata
  readonly upstream: Upstream
}

export class Http2Call implements ServerCall {
  readonly path: string
  readonly timeoutMs: number | undefined
  private readonly out: Reply
  private ended: AbortController | undefined
  private isEnded = false
  private request: Promise<Uint8Array> | undefined
  /** Once it was read whole. */
  private body: Buffer | undefined
  private requestBytes = 0
  private up: RuntimeCall | undefined
  private isExpired = false

  constructor(private readonly incoming: Incoming) {
    this.path = incoming.headers[':path'] ?? ''
    this.timeoutMs = parseGrpcTimeout(findHeader(incoming.raw, 'grpc-timeout'))
    this.out = new Reply(incoming.stream)
    incoming.stream.once('close', () => this.leave())
  }

  /** Created on first use: calls that only pass through do not need it. */
  get signal(): AbortSignal {
    if (this.ended === undefined) {
      this.ended = new AbortController()
      // One call may become many requests to the runtime.
      setMaxListeners(0, this.ended.signal)
      if (this.isEnded) this.ended.abort()
    }
    return this.ended.signal
  }

  private leave(): void {
    this.isEnded = true
    this.ended?.abort()
  }

  async passOn(): Promise<CallEnding> {
    const { stream, flags } = this.incoming
    const endStream = (flags & NGHTTP2_FLAG_END_STREAM) !== 0
    const up = await this.open(nothing, endStream)
    if (this.body !== undefined) up.stream.end(this.body)
    else if (!endStream)
      forwardRequest(stream, up.stream, (n) => {
        this.requestBytes += n
      })
    const { code } = await forwardAnswer(up, this.out)
    return this.ending(code, 'forwarded')
  }

  async passOnUnless(code: number): Promise<CallEnding | HeldBack> {
    const up = await this.openAsItCame()
    const forwarded = await forwardAnswer(up, this.out, code)
    return forwarded.heldBack === undefined
      ? this.ending(forwarded.code, 'forwarded')
      : { refused: forwarded.heldBack }
  }

  private async open(leaveOut: ReadonlySet<string>, endStream: boolean, path?: string): Promise<RuntimeCall> {
    const { raw, headers, upstream } = this.incoming
    const fields = toHeaders(raw, sensitiveIn(headers), leaveOut)
    if (path !== undefined) fields[':path'] = path
    const connection = await upstream.connection()
    if (this.isEnded)
      throw keelsonError('runtime.cancelled', 'the caller disconnected before the call was forwarded')
    this.up = connection.open(fields, endStream)
    return this.up
  }

  readMessage(): Promise<Uint8Array> {
    this.request ??= this.readRequest()
    return this.request
  }

  private async readRequest(): Promise<Uint8Array> {
    this.body = await this.readBody()
    return (
      unframeOne(this.body, findHeader(this.incoming.raw, 'grpc-encoding'), maxRequestBytes) ??
      new Uint8Array()
    )
  }

  private async readBody(): Promise<Buffer> {
    const parts: Buffer[] = []
    try {
      // A loop that is left early destroys its stream by default, and with it the status that we owe the caller.
      const incoming: AsyncIterable<Buffer> = this.incoming.stream.iterator({ destroyOnReturn: false })
      for await (const part of incoming) {
        this.requestBytes += part.length
        if (this.requestBytes > maxRequestBytes)
          throw keelsonError('request.too-large', `the request is larger than ${maxRequestBytes} bytes`)
        parts.push(part)
      }
    } catch (e) {
      if (isKeelsonError(e)) throw e
      throw cutShort(e)
    }
    // A stream that its caller has reset ends in Node like one whose request is whole.
    if (this.incoming.stream.aborted) throw cutShort()
    return Buffer.concat(parts)
  }

  async ask(message?: Uint8Array, path?: string): Promise<WholeAnswer> {
    const up = message === undefined ? await this.openAsItCame() : await this.open(ofThisHop, false, path)
    if (message !== undefined) up.stream.end(frameMessage(message))
    return await readWhole(up, this.signal)
  }

  /** The caller's own bytes and metadata, compressed as they were, although we have read them. */
  private async openAsItCame(): Promise<RuntimeCall> {
    await this.readMessage()
    const up = await this.open(nothing, false)
    up.stream.end(this.body)
    return up
  }

  async relay(answer: WholeAnswer): Promise<CallEnding> {
    const { headers, trailers, body, code } = answer
    if (this.out.stream.headersSent) {
      // Our own answer has begun: only the trailers are left to send.
      this.out.end(toHeaders(trailers.length === 0 ? headers : trailers, [], ofAnswerHead))
    } else if (trailers.length === 0 && body.length === 0) {
      if (!this.out.isOver) this.out.only(toHeaders(headers))
    } else this.send(toHeaders(headers), toHeaders(trailers), [body])
    return await this.over(code, 'forwarded')
  }

  async reply(message: Uint8Array, answer?: WholeAnswer): Promise<CallEnding> {
    const body = framePieces(message)
    if (answer === undefined || answer.code !== grpcCode.ok) {
      this.send(responseHeaders, statusHeaders({ code: grpcCode.ok, message: '' }), body)
      return await this.over(grpcCode.ok, 'answered')
    }
    this.send(toHeaders(answer.headers, [], ofThisHop), toHeaders(answer.trailers), body)
    return await this.over(grpcCode.ok, 'completed')
  }

  private send(
    headers: OutgoingHttpHeaders,
    trailers: OutgoingHttpHeaders,
    body: readonly Uint8Array[],
  ): void {
    if (this.out.isOver) return
    this.out.open(headers)
    for (const piece of body.slice(0, -1)) this.out.write(piece)
    this.out.end(trailers, body.at(-1))
  }

  async replyStream(messages: AsyncIterable<Uint8Array>): Promise<CallEnding> {
    for await (const message of messages) {
      if (this.out.isOver) return await this.over(grpcCode.cancelled, 'answered')
      if (!this.out.stream.headersSent) this.out.open(responseHeaders)
      if (this.out.write(frameMessage(message))) continue
      await once(this.out.stream, 'drain', { signal: this.signal }).catch(() => {})
    }
    if (!this.out.isOver && !this.out.stream.headersSent) this.out.open(responseHeaders)
    this.out.end(statusHeaders({ code: grpcCode.ok, message: '' }))
    return await this.over(grpcCode.ok, 'answered')
  }

  async refuse(status: GrpcStatus): Promise<CallEnding> {
    this.out.refuse(status)
    return await this.over(status.code, 'answered')
  }

  fail(error: unknown): Promise<CallEnding> {
    return this.refuse(toStatus(error))
  }

  expire(): void {
    if (this.out.isOver) return
    this.isExpired = true
    this.out.refuse({
      code: grpcCode.deadlineExceeded,
      message: 'keelson: the deadline of the call has passed',
    })
    this.leave()
    // No answer until the deadline: the runtime is slow, or the connection is dead. A new one costs nothing.
    if (this.up === undefined || this.up.stream.closed) return
    this.up.doubtConnection()
    this.up.cancel()
  }

  /** The ending, once the client has it or has gone. */
  private async over(code: number, maker: Maker): Promise<CallEnding> {
    await this.out.closed
    return this.ending(code, maker)
  }

  private ending(code: number, maker: Maker): CallEnding {
    return {
      code: this.isExpired ? grpcCode.deadlineExceeded : code,
      maker: this.isExpired ? 'answered' : maker,
      requestBytes: this.requestBytes,
      answerBytes: this.out.bytes,
    }
  }
}
