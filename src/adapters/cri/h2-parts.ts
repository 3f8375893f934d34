// The pieces of one call's answer that the present read has brought: many frames, handed on as one. They lie in the buffer that
// the next read fills again, so they are copied out, without the headers of their frames.
import type { RuntimeStream } from './h2-stream.js'

/** Copies of up to this size come out of Node's pool. */
const pooledBytes = 2048

export class AnswerParts {
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
    const whole = size <= pooledBytes ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size)
    let at = 0
    for (const part of parts) at += part.copy(whole, at)
    stream.data(whole)
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
