// What the runtime allows us: how many calls at once, and how much may be sent ahead on each.
import type { Calls } from './h2-calls.js'
import { initialWindowBytes, maxWindowBytes, ProtocolFault, resetCode, setting } from './h2-frames.js'
import type { Sender } from './h2-sender.js'
import type { RuntimeStream } from './h2-stream.js'

export class PeerLimits {
  /** Of a call that begins. */
  private windowBytes = initialWindowBytes

  constructor(
    private readonly calls: Calls,
    private readonly sender: Sender,
  ) {}

  begin(stream: RuntimeStream): void {
    stream.sendWindow = this.windowBytes
  }

  apply(values: ReadonlyMap<number, number>): void {
    const window = values.get(setting.initialWindow)
    if (window !== undefined && window > maxWindowBytes)
      throw new ProtocolFault(resetCode.flowControl, 'the window is too large')
    this.calls.most = values.get(setting.maxStreams) ?? this.calls.most
    if (window !== undefined) {
      // Those under way too; what they have sent already may leave them below zero.
      for (const stream of this.calls.all()) stream.sendWindow += window - this.windowBytes
      this.windowBytes = window
      this.sender.pumpAll()
    }
    this.calls.startWaiting()
  }

  /** False: more than a window can be. */
  widen(stream: RuntimeStream, bytes: number): boolean {
    stream.sendWindow += bytes
    if (stream.sendWindow > maxWindowBytes) return false
    this.sender.pump(stream)
    return true
  }
}
