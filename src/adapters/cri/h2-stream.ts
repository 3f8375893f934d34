// One call on the runtime's connection: what is still to be sent of it, what the runtime has sent, and how it ends. The frames
// themselves are the connection's business.
import type { RawMetadata } from '../../ports/cri-calls.js'
import type { Portion } from './h2-parts.js'

/** What becomes of a call, in this order; exactly one of `end` and `broken` is the last. */
export interface AnswerSink {
  /** `isLast`: they are the whole answer, and `end` does not follow. */
  headers(list: RawMetadata, isLast: boolean, sensitive: readonly string[]): void
  data(portion: Portion): void
  /** Empty: the answer ended without trailers. */
  end(trailers: RawMetadata, sensitive: readonly string[]): void
  /** The runtime reset the call with this code. Undefined: the connection is gone. */
  broken(code: number | undefined): void
}

/** What a call asks of its connection. */
export interface StreamWire {
  /** There is something to send, or the call has ended on our side. */
  wake(stream: RuntimeStream): void
  reset(stream: RuntimeStream, code: number): void
  /** So many bytes may come again on this stream. */
  giveBack(stream: RuntimeStream, bytes: number): void
}

/** Of a request that waits for the runtime's window. Beyond it the caller is asked to wait too. */
const aheadBytes = 64 * 1024

export class RuntimeStream {
  id = 0
  /** What the runtime allows us to send. */
  sendWindow = 0
  /** Of the DATA frame that is being read, padding included. */
  frameBytes = 0
  /** Received and not yet given back. */
  unreturned = 0
  isLocalEnded = false
  isRemoteEnded = false
  /** Headers that are not 1xx have come. */
  isAnswered = false
  /** No frame of either side is expected any more. */
  isOver = false
  onDrain: (() => void) | undefined
  private sink: AnswerSink | undefined
  private early: { readonly code: number | undefined } | undefined
  private readonly queue: Uint8Array[] = []
  private queuedBytes = 0
  private isEndQueued = false
  private toReturn = 0

  constructor(
    private readonly wire: StreamWire,
    readonly onOver: (wasReset: boolean) => void,
  ) {}

  attach(sink: AnswerSink): void {
    this.sink = sink
    const { early } = this
    if (early !== undefined) queueMicrotask(() => sink.broken(early.code))
  }

  /** False: wait for `onDrain`. */
  write(bytes: Uint8Array): boolean {
    if (this.isOver || this.isEndQueued) return true
    this.queue.push(bytes)
    this.queuedBytes += bytes.length
    this.wire.wake(this)
    return this.queuedBytes < aheadBytes
  }

  end(bytes?: Uint8Array): void {
    if (this.isOver || this.isEndQueued) return
    if (bytes !== undefined) {
      this.queue.push(bytes)
      this.queuedBytes += bytes.length
    }
    this.isEndQueued = true
    this.wire.wake(this)
  }

  get queued(): number {
    return this.queuedBytes
  }

  /** Everything has been handed to `take`, and no more will come. */
  get isEndDue(): boolean {
    return this.isEndQueued && this.queuedBytes === 0 && !this.isLocalEnded
  }

  /** The next bytes to send, at most so many; whether they are the last. */
  take(most: number): { readonly bytes: Uint8Array; readonly isLast: boolean } {
    const head = this.queue[0] ?? new Uint8Array()
    const bytes = head.length > most ? head.subarray(0, most) : head
    if (bytes.length === head.length) this.queue.shift()
    else this.queue[0] = head.subarray(most)
    this.queuedBytes -= bytes.length
    return { bytes, isLast: this.isEndQueued && this.queuedBytes === 0 }
  }

  drained(): void {
    if (this.queuedBytes >= aheadBytes || this.onDrain === undefined) return
    const { onDrain } = this
    this.onDrain = undefined
    onDrain()
  }

  /** Ends the call on both sides, whatever has come of it. Nothing more is told of it. */
  cancel(code: number): void {
    if (this.isOver) return
    this.sink = undefined
    this.wire.reset(this, code)
  }

  /** Of what came, so much has found its place: the runtime may send as much again. */
  consumed(bytes: number): void {
    this.toReturn += bytes
    if (this.isOver || this.isRemoteEnded) return
    this.wire.giveBack(this, this.toReturn)
  }

  /** What `consumed` has gathered was told to the runtime. */
  returned(): void {
    this.unreturned -= this.toReturn
    this.toReturn = 0
  }

  headers(list: RawMetadata, isLast: boolean, sensitive: readonly string[]): void {
    this.isAnswered = true
    this.sink?.headers(list, isLast, sensitive)
  }

  data(portion: Portion): void {
    this.sink?.data(portion)
  }

  ended(trailers: RawMetadata, sensitive: readonly string[]): void {
    this.sink?.end(trailers, sensitive)
  }

  broken(code: number | undefined): void {
    if (this.sink === undefined) this.early = { code }
    this.sink?.broken(code)
  }

  /** The last word of the connection about this call. */
  over(wasReset: boolean): void {
    if (this.isOver) return
    this.isOver = true
    this.queue.length = 0
    this.queuedBytes = 0
    // Whoever waits to write has nothing to wait for.
    this.drained()
    this.onOver(wasReset)
  }
}
