// The runtime's DATA: whose it is, what it takes of the windows that we have given, and when these are opened again.
import type { Calls } from './h2-calls.js'
import { frameType, numberFrame, ProtocolFault, resetCode } from './h2-frames.js'
import { AnswerParts } from './h2-parts.js'
import type { Sender } from './h2-sender.js'
import type { RuntimeStream } from './h2-stream.js'

export interface Windows {
  readonly streamWindowBytes: number
  readonly connectionWindowBytes: number
}

export class Intake {
  /** What this read has brought and nobody has yet. */
  readonly parts = new AnswerParts()
  private windowBytes: number
  private largestWindowBytes: number
  /** Of the whole connection: come, and not yet given back. */
  private toReturn = 0
  /** Of the frame that is being read: what is not padding. */
  private useful = 0

  constructor(
    private readonly windows: Windows,
    private readonly calls: Calls,
    private readonly sender: Sender,
    private readonly onLast: (stream: RuntimeStream) => void,
  ) {
    this.windowBytes = windows.streamWindowBytes
    this.largestWindowBytes = windows.streamWindowBytes
  }

  /** `length`: padding included. */
  begin(id: number, length: number): void {
    const stream = this.calls.find(id)
    this.useful = 0
    this.toReturn += length
    if (this.toReturn >= this.windows.connectionWindowBytes / 2) {
      this.sender.send(numberFrame(frameType.windowUpdate, 0, this.toReturn))
      this.toReturn = 0
    }
    if (stream === undefined) return
    if (!stream.isAnswered || stream.isRemoteEnded)
      throw new ProtocolFault(resetCode.protocol, `data of stream ${id} outside its answer`)
    stream.unreturned += length
    if (stream.unreturned > this.largestWindowBytes)
      throw new ProtocolFault(resetCode.flowControl, `stream ${id} has sent more than its window`)
    stream.frameBytes = length
  }

  add(id: number, bytes: Buffer): void {
    const stream = this.calls.find(id)
    if (stream === undefined) return
    this.parts.add(stream, bytes)
    this.useful += bytes.length
  }

  end(id: number, isLast: boolean): void {
    const stream = this.calls.find(id)
    if (stream === undefined) return
    const padding = stream.frameBytes - this.useful
    if (padding > 0) stream.consumed(padding)
    if (!isLast) return
    this.parts.handOn()
    this.onLast(stream)
  }

  /** For all calls, those under way included. */
  setWindow(bytes: number): void {
    this.windowBytes = bytes
    this.largestWindowBytes = Math.max(this.largestWindowBytes, bytes)
    // What was too little to be given back may be all of a smaller window.
    for (const stream of this.calls.all()) stream.consumed(0)
  }

  /** Told to the runtime in large steps: each word of it costs both sides. */
  giveBack(stream: RuntimeStream, bytes: number): void {
    if (bytes < this.windowBytes / 2 || stream.id === 0) return
    this.sender.send(numberFrame(frameType.windowUpdate, stream.id, bytes))
    stream.returned()
  }
}
