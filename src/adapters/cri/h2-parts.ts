// The pieces of one call's answer that the present read has brought: many frames, handed on as one. They lie in the buffer that
// the next read fills again, between the headers of their frames: whoever wants them longer copies or borrows them.
import type { RuntimeStream } from './h2-stream.js'
import { type GiveBack, type Lender, lendsNothing } from './proxy-buffers.js'

/** Copies of up to this size come out of Node's pool. */
const pooledBytes = 2048
/** Smaller ones are better copied: there are few buffers to lend. */
const worthLendingBytes = 16 * 1024

export interface Borrowed {
  readonly bytes: Buffer
  readonly giveBack: GiveBack
}

/** Valid during the call that hands it over. */
export class Portion {
  constructor(
    private readonly parts: readonly Buffer[],
    readonly size: number,
    private readonly lender: Lender,
  ) {}

  copy(): Buffer {
    const { size } = this
    return this.gather(size <= pooledBytes ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size))
  }

  /** The same bytes where they were read, until they are given back. Undefined: copy them. */
  borrow(): Borrowed | undefined {
    const [first] = this.parts
    if (first === undefined || this.size < worthLendingBytes) return undefined
    const giveBack = this.lender.lend()
    if (giveBack === undefined) return undefined
    // Moved together in their place. Between them are only frames that have been read.
    const place = Buffer.from(first.buffer, first.byteOffset, this.size)
    return { bytes: this.gather(place), giveBack }
  }

  private gather(into: Buffer): Buffer {
    let at = 0
    for (const part of this.parts) {
      into.set(part, at)
      at += part.length
    }
    return into
  }
}

export class AnswerParts {
  /** Of the bytes that are being read. */
  lender: Lender = lendsNothing
  private parts: Buffer[] = []
  private stream: RuntimeStream | undefined
  private size = 0

  /** Those of another call are handed on first: the order of what a caller sees is the runtime's. */
  add(stream: RuntimeStream, bytes: Buffer): void {
    if (this.stream !== stream) this.handOn()
    this.stream = stream
    this.parts.push(bytes)
    this.size += bytes.length
  }

  handOn(): void {
    const { parts, stream, size } = this
    if (stream === undefined) return
    this.clear()
    stream.data(new Portion(parts, size, this.lender))
  }

  /** Nobody waits for them any more. */
  drop(stream: RuntimeStream): void {
    if (this.stream === stream) this.clear()
  }

  private clear(): void {
    this.parts = []
    this.stream = undefined
    this.size = 0
  }
}
