// Protobuf's wire format, for messages that are read or written without the generated code: lists of which only two fields
// are wanted, answers whose items are copied unread, and metrics, of which a full node has 13,000.

export const wireType = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const

/** What stands before each field. */
export const tagOf = (field: number, type: number): number => (field << 3) | type

const { varint, lengthDelimited } = wireType

/** Of ListPodSandboxMetricsResponse and, with other names, StreamPodSandboxMetricsResponse. */
export const podMetricsTags = {
  pod: tagOf(1, lengthDelimited),
  /** Of a pod and of a container alike, as are their metrics. */
  id: tagOf(1, lengthDelimited),
  metric: tagOf(2, lengthDelimited),
  container: tagOf(3, lengthDelimited),
} as const

/** Of Metric. */
export const metricTags = {
  name: tagOf(1, lengthDelimited),
  timestamp: tagOf(2, varint),
  type: tagOf(3, varint),
  labelValue: tagOf(4, lengthDelimited),
  value: tagOf(5, lengthDelimited),
} as const

/** Of UInt64Value, the message around a metric's value. */
export const wrappedValueTag = tagOf(1, varint)

const fixedBytes: Readonly<Record<number, number>> = { [wireType.fixed64]: 8, [wireType.fixed32]: 4 }
const longestVarint = 10
/** 49 bits: exact as a number. */
const longestExactVarint = 7

/** Reads fields one after another. Every method throws where the bytes are no message. */
export class WireReader {
  readonly bytes: Uint8Array
  /** The next byte to read. */
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  protected unreadable(): never {
    throw new RangeError(`unreadable field at byte ${this.at} of ${this.bytes.length}`)
  }

  /** A tag, a length or another number below 2^49. */
  varint(): number {
    let value = 0
    let factor = 1
    for (let i = 0; i < longestExactVarint; i++) {
      const byte = this.bytes[this.at++] ?? this.unreadable()
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
    return this.unreadable()
  }

  uint64(): bigint {
    const start = this.at
    this.skipVarint()
    if (this.at - start > longestExactVarint) return this.largeVarint(start)
    this.at = start
    return BigInt(this.varint())
  }

  /** The one between `start` and where the reader is. */
  protected largeVarint(start: number): bigint {
    let value = 0n
    for (let i = this.at - 1; i >= start; i--) value = (value << 7n) | BigInt((this.bytes[i] ?? 0) & 127)
    return BigInt.asUintN(64, value)
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64())
  }

  /** Also an enum: negative ones take ten bytes. */
  int32(): number {
    return Number(BigInt.asIntN(32, this.uint64()))
  }

  private skipVarint(): void {
    for (let i = 0; i < longestVarint; i++) if ((this.bytes[this.at++] ?? this.unreadable()) < 128) return
    this.unreadable()
  }

  /** Where the content of a length-delimited field ends; the reader is at its first byte. */
  content(end: number): number {
    const contentEnd = this.varint() + this.at
    return contentEnd <= end ? contentEnd : this.unreadable()
  }

  /** Passes over the field of this tag, which was just read. */
  skip(tag: number, end: number): void {
    const type = tag & 7
    if (tag >>> 3 === 0) this.unreadable()
    if (type === varint) this.skipVarint()
    else if (type === lengthDelimited) this.at = this.content(end)
    else this.at += fixedBytes[type] ?? this.unreadable()
    if (this.at > end) this.unreadable()
  }

  /** A field that goes beyond its message makes the message unreadable. */
  finish(end: number): void {
    if (this.at !== end) this.unreadable()
  }
}

/** The fields of a message as slices of it, tag included, in their order. */
export function* topLevelFields(
  bytes: Uint8Array,
): Generator<{ readonly field: number; readonly bytes: Uint8Array }> {
  const reader = new WireReader(bytes)
  while (reader.at < bytes.length) {
    const start = reader.at
    const tag = reader.varint()
    reader.skip(tag, bytes.length)
    yield { field: Math.floor(tag / 8), bytes: bytes.subarray(start, reader.at) }
  }
}

/** Of any 64 bits; negative numbers take ten bytes. */
export function encodeVarint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, value)
  for (; left >= 128n; left >>= 7n) bytes.push(Number(left & 127n) + 128)
  bytes.push(Number(left))
  return Uint8Array.from(bytes)
}
