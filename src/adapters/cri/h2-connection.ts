// The client's side of HTTP/2 to one runtime on the same machine. Node's own client makes a duplex stream with a dozen events of
// each call; here the pieces of an answer go straight to where they are wanted, many frames at a time, which is
// half of what a call through the server costs.
import type { Socket } from 'node:net'
import { createHpackDecoder } from '../../core/hpack/decoder.js'
import { encodeFields } from '../../core/hpack/encode.js'
import type { RawMetadata } from '../../ports/cri-calls.js'
import { Calls } from './h2-calls.js'
import { type Control, type ControlSink, createControl } from './h2-control.js'
import {
  ackFrame,
  frameHeaderBytes,
  frameType,
  headerFrames,
  initialWindowBytes,
  newFrame,
  numberFrame,
  ProtocolFault,
  preface,
  resetCode,
  setting,
  settingsFrame,
} from './h2-frames.js'
import { Intake, type Windows } from './h2-intake.js'
import { PeerLimits } from './h2-limits.js'
import { createFrameReader, type FrameReader } from './h2-reader.js'
import { createSender, type Sender } from './h2-sender.js'
import { RuntimeStream, type StreamWire } from './h2-stream.js'
import { type Lender, lendsNothing } from './proxy-buffers.js'

/** Our SETTINGS_HEADER_TABLE_SIZE: the default. */
const tableBytes = 4096
/** A peer that knows it ends one call; without it a larger list would end the connection. */
const announcedFieldsBytes = 256 * 1024
const maxFieldsBytes = 1024 * 1024
/** We keep no table for our own fields: told once, in front of the first. */
const noTable = Uint8Array.of(0x20)

export interface ConnectionOptions extends Windows {
  /** The runtime has taken over all our settings. */
  readonly onSettled: () => void
  /** Takes no new calls any more; those under way may still be answered. */
  readonly onGoaway: () => void
  readonly onClose: () => void
}

export class RuntimeConnection implements StreamWire, ControlSink {
  /** Of our own settings, so many are not yet acknowledged. */
  unacknowledged = 0
  isDestroyed = false
  private isGoingAway = false
  private isFirst = true
  private readonly calls = new Calls()
  private readonly sender: Sender
  private readonly intake: Intake
  private readonly limits: PeerLimits
  private readonly reader: FrameReader
  private readonly control: Control = createControl(this)
  private readonly fields = createHpackDecoder(tableBytes, maxFieldsBytes)

  constructor(
    private readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    this.sender = createSender(socket)
    this.limits = new PeerLimits(this.calls, this.sender)
    this.intake = new Intake(options, this.calls, this.sender, (stream) => this.endWithoutTrailers(stream))
    this.reader = createFrameReader({
      beginData: (id, length) => {
        if (this.control.isInBlock) throw new ProtocolFault(resetCode.protocol, 'data inside a header block')
        this.intake.begin(id, length)
      },
      data: (id, bytes) => this.intake.add(id, bytes),
      endData: (id, isLast) => this.intake.end(id, isLast),
      frame: (type, flags, id, payload) => this.control.frame(type, flags, id, payload),
    })
    socket.on('error', () => {})
    socket.once('close', () => this.lost())
    socket.once('end', () => socket.destroy())
    this.sender.send(preface)
    this.sendSettings([
      [setting.enablePush, 0],
      [setting.initialWindow, options.streamWindowBytes],
      [setting.maxFields, announcedFieldsBytes],
    ])
    const more = options.connectionWindowBytes - initialWindowBytes
    this.sender.send(numberFrame(frameType.windowUpdate, 0, more))
  }

  get isOpen(): boolean {
    return !this.isDestroyed && !this.isGoingAway && this.calls.hasNumbers
  }

  /** `fields`: names and values in turn, as they go out. `isLast`: there is no body. */
  request(
    fields: RawMetadata,
    sensitive: ReadonlySet<string> | undefined,
    isLast: boolean,
    onOver: (wasReset: boolean) => void,
  ): RuntimeStream {
    const stream = new RuntimeStream(this, onOver)
    if (this.isDestroyed || this.isGoingAway) {
      this.giveUp(stream)
      return stream
    }
    const block = encodeFields(fields, sensitive)
    this.calls.add(stream, () => this.begin(stream, block, isLast))
    return stream
  }

  /** Bytes of the peer: valid during this call, and longer where they are borrowed. */
  read(bytes: Buffer, lender: Lender = lendsNothing): void {
    this.intake.parts.lender = lender
    try {
      this.reader.push(bytes)
      this.intake.parts.handOn()
    } catch (e) {
      this.fault(e)
    }
  }

  /** How much the runtime may send ahead on each call, those under way included. */
  setWindow(bytes: number): void {
    this.sendSettings([[setting.initialWindow, bytes]])
    this.intake.setWindow(bytes)
  }

  /** When no call is under way: says goodbye. */
  close(): void {
    if (this.isDestroyed || this.isGoingAway) return
    this.isGoingAway = true
    this.sayGoodbye(resetCode.none)
    this.socket.end()
    this.socket.destroySoon()
  }

  destroy(): void {
    this.socket.destroy()
    this.lost()
  }

  private sendSettings(values: readonly (readonly [number, number])[]): void {
    this.unacknowledged += 1
    this.sender.send(settingsFrame(values))
  }

  private sayGoodbye(code: number): void {
    const frame = newFrame(8, frameType.goaway, 0, 0)
    frame.writeUInt32BE(0, frameHeaderBytes)
    frame.writeUInt32BE(code, frameHeaderBytes + 4)
    this.sender.send(frame)
    this.sender.flush()
  }

  private fault(e: unknown): void {
    const code = e instanceof ProtocolFault ? e.code : resetCode.internal
    this.sayGoodbye(e instanceof RangeError ? resetCode.compression : code)
    this.destroy()
  }

  private lost(): void {
    if (this.isDestroyed) return
    this.isDestroyed = true
    for (const stream of [...this.calls.takeWaiting(), ...this.calls.all()]) this.giveUp(stream)
    this.options.onClose()
  }

  private giveUp(stream: RuntimeStream): void {
    stream.broken(undefined)
    this.calls.remove(stream)
    stream.over(false)
  }

  private begin(stream: RuntimeStream, block: Uint8Array, isLast: boolean): void {
    this.limits.begin(stream)
    stream.isLocalEnded = isLast
    const whole = this.isFirst ? Buffer.concat([noTable, block]) : block
    this.isFirst = false
    this.sender.send(...headerFrames(stream.id, whole, isLast))
    if (isLast) this.sender.flush()
    else this.sender.pump(stream)
  }

  // What a call asks.

  wake(stream: RuntimeStream): void {
    if (stream.id === 0) return
    this.sender.pump(stream)
    this.endIfDone(stream)
  }

  reset(stream: RuntimeStream, code: number): void {
    if (stream.id !== 0 && !this.isDestroyed) {
      this.sender.send(numberFrame(frameType.reset, stream.id, code))
      this.sender.flush()
    }
    this.forget(stream, stream.id !== 0)
  }

  giveBack(stream: RuntimeStream, bytes: number): void {
    this.intake.giveBack(stream, bytes)
  }

  private forget(stream: RuntimeStream, wasReset: boolean): void {
    this.calls.remove(stream)
    this.intake.parts.drop(stream)
    stream.over(wasReset)
    if (!this.isDestroyed) this.calls.startWaiting()
    if (this.isGoingAway && this.calls.isEmpty) this.socket.destroySoon()
  }

  private endIfDone(stream: RuntimeStream): void {
    if (!stream.isRemoteEnded || stream.isOver) return
    // After a whole answer nobody wants the rest of the request.
    if (stream.isLocalEnded) this.forget(stream, false)
    else this.reset(stream, resetCode.none)
  }

  // What the runtime sends.

  private endWithoutTrailers(stream: RuntimeStream): void {
    stream.isRemoteEnded = true
    stream.ended([], [])
    this.endIfDone(stream)
  }

  gotFields(id: number, block: Uint8Array, isLast: boolean): void {
    // Also those of calls that nobody waits for: each block changes the table of the next.
    const { list, sensitive } = this.fields.decode(block)
    this.intake.parts.handOn()
    const stream = this.calls.find(id)
    if (stream === undefined) return
    if (stream.isRemoteEnded || (stream.isAnswered && !isLast)) {
      this.breakOne(stream, resetCode.protocol)
      return
    }
    if (!stream.isAnswered && !isLast && list[0] === ':status' && list[1]?.startsWith('1')) return
    if (isLast) stream.isRemoteEnded = true
    if (stream.isAnswered) stream.ended(list, sensitive)
    else stream.headers(list, isLast, sensitive)
    this.endIfDone(stream)
  }

  /** The runtime has broken the rules for one call only. */
  private breakOne(stream: RuntimeStream, code: number): void {
    stream.broken(code)
    this.reset(stream, code)
  }

  gotReset(id: number, code: number): void {
    this.intake.parts.handOn()
    const stream = this.calls.find(id)
    if (stream === undefined) return
    if (!stream.isRemoteEnded) stream.broken(code)
    this.forget(stream, code !== resetCode.none)
  }

  gotSettings(values: ReadonlyMap<number, number>): void {
    this.sender.send(ackFrame(frameType.settings, Buffer.alloc(0)))
    this.limits.apply(values)
  }

  gotSettingsAck(): void {
    this.unacknowledged -= 1
    if (this.unacknowledged === 0) this.options.onSettled()
  }

  gotPing(payload: Buffer): void {
    this.sender.send(ackFrame(frameType.ping, payload))
  }

  gotGoaway(last: number): void {
    this.intake.parts.handOn()
    this.isGoingAway = true
    this.options.onGoaway()
    const unseen = this.calls.all().filter((stream) => stream.id > last)
    for (const stream of [...this.calls.takeWaiting(), ...unseen]) this.giveUp(stream)
    if (this.calls.isEmpty) this.socket.destroySoon()
  }

  gotWindow(id: number, bytes: number): void {
    if (id === 0) {
      this.sender.widen(bytes)
      return
    }
    const stream = this.calls.find(id)
    if (stream === undefined) return
    if (this.limits.widen(stream, bytes)) this.endIfDone(stream)
    else this.breakOne(stream, resetCode.flowControl)
  }
}
