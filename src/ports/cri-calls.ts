// One call of a CRI client as the CRI server sees it: what may be done with it, in terms of whole messages and
// metadata. Frames, windows and sockets are the adapter's business.

/** Names and values in turn, as they came: repeated keys stay repeated. */
export type RawMetadata = readonly string[]

/** What the runtime said to one unary call, not interpreted. */
export interface WholeAnswer {
  /** `grpc-status`; 2 (UNKNOWN) where there was none. */
  readonly code: number
  readonly headers: RawMetadata
  /** Empty: the headers were all (no message, no trailers). */
  readonly trailers: RawMetadata
  /** Everything between headers and trailers, framed as it came. */
  readonly body: Uint8Array
  /** The one message of `body`; undefined: none, or a failure. */
  readonly message: Uint8Array | undefined
}

/** Who made the answer: the runtime alone, the runtime and then us, or us alone. */
export type Maker = 'forwarded' | 'completed' | 'answered'

export interface CallEnding {
  readonly code: number
  readonly maker: Maker
  readonly requestBytes: number
  readonly answerBytes: number
}

export interface GrpcStatus {
  readonly code: number
  readonly message: string
}

export interface HeldBack {
  readonly refused: WholeAnswer
}

export interface ServerCall {
  /** `/runtime.v1.RuntimeService/Version` */
  readonly path: string
  /** From `grpc-timeout`. Undefined: the caller waits for ever. */
  readonly timeoutMs: number | undefined
  /** Aborted when the caller has gone or its deadline has passed. */
  readonly signal: AbortSignal
  /** Both directions as streams, nothing interpreted; what has been read of the request goes first, as it came. */
  passOn(): Promise<CallEnding>
  /** The one message of the request. Errors: request.too-large, request.invalid. */
  readMessage(): Promise<Uint8Array>
  /** Asks the runtime for a whole answer: with this message by this path, or with the request as it came. */
  ask(message?: Uint8Array, path?: string): Promise<WholeAnswer>
  /** As `ask`, but the answer streams to the caller unless the runtime refuses with this code before its first message. */
  passOnUnless(code: number): Promise<CallEnding | HeldBack>
  /** The runtime's answer, byte by byte; after messages of ours only its status. */
  relay(answer: WholeAnswer): Promise<CallEnding>
  /** Our message, with the runtime's metadata if the runtime responded. */
  reply(message: Uint8Array, answer?: WholeAnswer): Promise<CallEnding>
  /** Messages of ours, at the caller's pace. */
  replyStream(messages: AsyncIterable<Uint8Array>): Promise<CallEnding>
  /** Ends the call with a status, whatever has been sent so far. */
  refuse(status: GrpcStatus): Promise<CallEnding>
  /** Ends the call with the status of this error. */
  fail(error: unknown): Promise<CallEnding>
  /** From now on `signal` is aborted, the runtime's side is cancelled, and the caller gets DEADLINE_EXCEEDED. */
  expire(): void
}

export type CallHandler = (call: ServerCall) => Promise<CallEnding>
