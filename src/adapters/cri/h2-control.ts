// Every frame but DATA: its form is checked here, so that only what it says is left to the connection.
import { flag, frameType, maxFrameBytes, ProtocolFault, resetCode } from './h2-frames.js'

export interface ControlSink {
  /** A whole header block; `isLast`: nothing follows on this stream. */
  gotFields(id: number, block: Uint8Array, isLast: boolean): void
  gotReset(id: number, code: number): void
  gotSettings(values: ReadonlyMap<number, number>): void
  gotSettingsAck(): void
  gotPing(payload: Buffer): void
  gotGoaway(lastId: number): void
  gotWindow(id: number, bytes: number): void
}

const maxBlockBytes = 16 * maxFrameBytes

function check(isRight: boolean, code: number, why: string): void {
  if (!isRight) throw new ProtocolFault(code, why)
}

/** The part of a HEADERS frame that is the block: without padding and priority. */
function blockIn(flags: number, payload: Buffer): Buffer {
  const isPadded = (flags & flag.padded) !== 0
  const begin = (isPadded ? 1 : 0) + ((flags & flag.priority) === 0 ? 0 : 5)
  const end = payload.length - (isPadded ? (payload[0] ?? 0) : 0)
  check(begin <= end, resetCode.protocol, 'more padding than there are bytes')
  return payload.subarray(begin, end)
}

function settingsIn(payload: Buffer): ReadonlyMap<number, number> {
  check(payload.length % 6 === 0, resetCode.frameSize, 'SETTINGS of a wrong length')
  const values = new Map<number, number>()
  for (let at = 0; at < payload.length; at += 6)
    values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
  return values
}

export interface Control {
  frame(type: number, flags: number, id: number, payload: Buffer): void
  /** A header block has begun and not ended: nothing else may come, DATA neither. */
  readonly isInBlock: boolean
}

export function createControl(sink: ControlSink): Control {
  /** A header block whose end has not come yet; nothing else may come before it. */
  let open: { id: number; isLast: boolean; size: number; parts: Buffer[] } | undefined

  function addToBlock(id: number, flags: number, part: Buffer, isLast: boolean): void {
    const isWhole = (flags & flag.endHeaders) !== 0
    if (isWhole && open === undefined) {
      sink.gotFields(id, part, isLast)
      return
    }
    open ??= { id, isLast, size: 0, parts: [] }
    open.size += part.length
    // Each empty one costs too.
    check(
      open.size <= maxBlockBytes && open.parts.length < 64,
      resetCode.calm,
      'a header block that does not end',
    )
    open.parts.push(Buffer.from(part))
    if (!isWhole) return
    const block = Buffer.concat(open.parts)
    const { isLast: wasLast } = open
    open = undefined
    sink.gotFields(id, block, wasLast)
  }

  const byType: Partial<Record<number, (flags: number, id: number, payload: Buffer) => void>> = {
    [frameType.headers]: (flags, id, payload) => {
      addToBlock(id, flags, blockIn(flags, payload), (flags & flag.endStream) !== 0)
    },
    [frameType.continuation]: (flags, id, payload) => {
      check(open !== undefined, resetCode.protocol, 'CONTINUATION of nothing')
      addToBlock(id, flags, payload, false)
    },
    [frameType.reset]: (_flags, id, payload) => {
      check(payload.length === 4, resetCode.frameSize, 'RST_STREAM of a wrong length')
      sink.gotReset(id, payload.readUInt32BE(0))
    },
    [frameType.settings]: (flags, id, payload) => {
      check(id === 0, resetCode.protocol, 'SETTINGS on a stream')
      if ((flags & flag.ack) === 0) return sink.gotSettings(settingsIn(payload))
      check(payload.length === 0, resetCode.frameSize, 'an acknowledgement with a payload')
      sink.gotSettingsAck()
    },
    [frameType.pushPromise]: () => {
      check(false, resetCode.protocol, 'PUSH_PROMISE, which we have refused')
    },
    [frameType.ping]: (flags, id, payload) => {
      check(id === 0, resetCode.protocol, 'PING on a stream')
      check(payload.length === 8, resetCode.frameSize, 'PING of a wrong length')
      if ((flags & flag.ack) === 0) sink.gotPing(payload)
    },
    [frameType.goaway]: (_flags, id, payload) => {
      check(id === 0, resetCode.protocol, 'GOAWAY on a stream')
      check(payload.length >= 8, resetCode.frameSize, 'GOAWAY of a wrong length')
      sink.gotGoaway(payload.readUInt32BE(0) & 0x7fffffff)
    },
    [frameType.windowUpdate]: (_flags, id, payload) => {
      check(payload.length === 4, resetCode.frameSize, 'WINDOW_UPDATE of a wrong length')
      const bytes = payload.readUInt32BE(0) & 0x7fffffff
      check(bytes > 0, resetCode.protocol, 'WINDOW_UPDATE of nothing')
      sink.gotWindow(id, bytes)
    },
  }

  return {
    get isInBlock() {
      return open !== undefined
    },
    frame(type, flags, id, payload) {
      if (open !== undefined)
        check(
          type === frameType.continuation && id === open.id,
          resetCode.protocol,
          'another frame inside a header block',
        )
      // Types that we do not know mean nothing to us.
      byType[type]?.(flags, id, payload)
    },
  }
}
