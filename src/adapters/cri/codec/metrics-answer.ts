// The answer of ListPodSandboxMetrics, kept as bytes and read by whoever goes through it, with most strings shared: all metrics
// of a container carry the same six labels, and every container the same names. As objects, 110 pods are 100,000 strings.
import { keelsonError } from '../../../core/errors.js'
import {
  ListPodSandboxMetricsRequest,
  type MessageFns,
  type Metric,
  type MetricType,
  StreamPodSandboxMetricsRequest,
} from '../../../cri-api/api.js'
import type { PodMetrics, RuntimeMetrics } from '../../../ports/runtime.js'
import { type CallContext, callStream, callUnary, type Method } from '../client/call.js'
import type { WholeDecoder } from './codec.js'

const varintType = 0
const lengthDelimited = 2
const fixedSizes: Readonly<Record<number, number>> = { 1: 8, 5: 4 }
const tagOf = (field: number, type: number): number => (field << 3) | type

const podTag = tagOf(1, lengthDelimited)
const idTag = tagOf(1, lengthDelimited)
const metricTag = tagOf(2, lengthDelimited)
const containerTag = tagOf(3, lengthDelimited)
const nameTag = tagOf(1, lengthDelimited)
const timeTag = tagOf(2, varintType)
const typeTag = tagOf(3, varintType)
const labelTag = tagOf(4, lengthDelimited)
const valueTag = tagOf(5, lengthDelimited)

/** A hostile answer must not make the search long. */
const mostOfOneLength = 16

interface Block {
  readonly start: number
  readonly labels: string[]
}

/** Texts of one answer that come again and again. */
class Shared {
  readonly names = new Map<number, { readonly start: number; readonly text: string }[]>()
  readonly blocks = new Map<number, Block>()
  lastTime = { start: 0, length: 0, value: 0n }
}

/** A way through a part of an answer. */
class Reader {
  constructor(
    private readonly bytes: Buffer,
    private readonly shared: Shared,
    public at = 0,
  ) {}

  from(at: number): Reader {
    return new Reader(this.bytes, this.shared, at)
  }

  get length(): number {
    return this.bytes.length
  }

  private fail(): never {
    const where = `unreadable field at byte ${this.at} of ${this.bytes.length}`
    throw keelsonError(
      'runtime.failed',
      `read the metrics of pods: ${where}; is the runtime what it should be?`,
    )
  }

  /** Below 2^53. */
  varint(): number {
    let value = 0
    let factor = 1
    for (let i = 0; i < 7; i++) {
      const byte = this.bytes[this.at++] ?? this.fail()
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
    return this.fail()
  }

  /** All 64 bits. */
  big(): bigint {
    const start = this.at
    const end = this.passVarint()
    const size = end - start
    if (size <= 7) {
      this.at = start
      return BigInt(this.varint())
    }
    if (size === this.shared.lastTime.length && this.isSame(start, this.shared.lastTime.start, size))
      return this.shared.lastTime.value
    let value = 0n
    for (let i = end - 1; i >= start; i--) value = (value << 7n) | BigInt((this.bytes[i] ?? 0) & 127)
    this.shared.lastTime = { start, length: size, value: BigInt.asUintN(64, value) }
    return this.shared.lastTime.value
  }

  private passVarint(): number {
    for (let i = 0; i < 10; i++) if ((this.bytes[this.at++] ?? this.fail()) < 128) return this.at
    return this.fail()
  }

  /** Where the content of a length-delimited field ends; the reader is at its begin. */
  content(end: number): number {
    const contentEnd = this.varint() + this.at
    return contentEnd <= end ? contentEnd : this.fail()
  }

  skip(tag: number, end: number): void {
    const type = tag & 7
    if (tag >>> 3 === 0) this.fail()
    if (type === varintType) this.passVarint()
    else if (type === lengthDelimited) this.at = this.content(end)
    else this.at += fixedSizes[type] ?? this.fail()
    if (this.at > end) this.fail()
  }

  /** A field that goes beyond its message makes the message unreadable. */
  finish(end: number): void {
    if (this.at !== end) this.fail()
  }

  private isSame(a: number, b: number, length: number): boolean {
    return this.bytes.compare(this.bytes, b, b + length, a, a + length) === 0
  }

  text(end: number): string {
    const contentEnd = this.content(end)
    const text = this.bytes.toString('utf8', this.at, contentEnd)
    this.at = contentEnd
    return text
  }

  /** A text that comes again and again. */
  name(end: number): string {
    const contentEnd = this.content(end)
    const start = this.at
    const length = contentEnd - start
    this.at = contentEnd
    const known = this.shared.names.get(length) ?? []
    for (const one of known) if (this.isSame(start, one.start, length)) return one.text
    const text = this.bytes.toString('utf8', start, contentEnd)
    if (known.length < mostOfOneLength) known.push({ start, text })
    this.shared.names.set(length, known)
    return text
  }

  /** All labels of a metric, which follow one another. The reader is behind the first tag. */
  labels(end: number): string[] {
    const start = this.at
    let next = start
    do {
      next = this.content(end)
      this.at = next + 1
    } while (next < end && this.bytes[next] === labelTag)
    const length = next - start
    const known = this.shared.blocks.get(length)
    if (known !== undefined && this.isSame(start, known.start, length)) {
      this.at = next
      return known.labels
    }
    this.at = start
    const labels: string[] = []
    for (; this.at < next; this.at++) labels.push(this.text(next))
    this.at = next
    this.shared.blocks.set(length, { start, labels })
    return labels
  }
}

function readValue(reader: Reader, end: number): bigint {
  let value = 0n
  while (reader.at < end) {
    const tag = reader.varint()
    if (tag === tagOf(1, varintType)) value = reader.big()
    else reader.skip(tag, end)
  }
  reader.finish(end)
  return value
}

function readMetric(reader: Reader, end: number): Metric {
  let name = ''
  let timestamp = 0n
  let metricType = 0
  let labelValues: string[] = []
  let value: { value: bigint } | undefined
  while (reader.at < end) {
    const tag = reader.varint()
    if (tag === nameTag) name = reader.name(end)
    else if (tag === timeTag) timestamp = BigInt.asIntN(64, reader.big())
    else if (tag === typeTag) metricType = Number(BigInt.asIntN(32, reader.big()))
    else if (tag === labelTag) {
      const labels = reader.labels(end)
      labelValues = labelValues.length === 0 ? labels : [...labelValues, ...labels]
    } else if (tag === valueTag) value = { value: readValue(reader, reader.content(end)) }
    else reader.skip(tag, end)
  }
  reader.finish(end)
  return { name, timestamp, metricType: metricType as MetricType, labelValues, value }
}

/** Read anew by everybody who goes through them. */
const metricsIn = (reader: Reader, start: number, end: number): Iterable<Metric> => ({
  *[Symbol.iterator]() {
    const own = reader.from(start)
    while (own.at < end) {
      const tag = own.varint()
      if (tag === metricTag) yield readMetric(own, own.content(end))
      else own.skip(tag, end)
    }
  },
})

type Group = { readonly id: string; readonly metrics: Iterable<Metric> }

/** Pods and containers look alike: an id, metrics, and fields of their own. */
function readGroup(reader: Reader, end: number, isOwn: (tag: number) => boolean = () => false): Group {
  let id = ''
  const start = reader.at
  while (reader.at < end) {
    const tag = reader.varint()
    if (tag === idTag) id = reader.text(end)
    else if (!isOwn(tag)) reader.skip(tag, end)
  }
  reader.finish(end)
  return { id, metrics: metricsIn(reader, start, end) }
}

function readPod(reader: Reader, end: number): PodMetrics {
  const containerMetrics: PodMetrics['containerMetrics'][number][] = []
  const { id, metrics } = readGroup(reader, end, (tag) => {
    if (tag !== containerTag) return false
    const container = readGroup(reader, reader.content(end))
    containerMetrics.push({ containerId: container.id, metrics: container.metrics })
    return true
  })
  return { podSandboxId: id, metrics, containerMetrics }
}

/** The unary answer and one message of the stream: both are pods in field 1. */
export const podMetricsDecoder: WholeDecoder<readonly PodMetrics[]> = {
  decodeWhole(bytes) {
    const reader = new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), new Shared())
    const pods: PodMetrics[] = []
    while (reader.at < reader.length) {
      const tag = reader.varint()
      if (tag === podTag) pods.push(readPod(reader, reader.content(reader.length)))
      else reader.skip(tag, reader.length)
    }
    return pods
  },
}

const methodOf = <Q>(name: string, requestType: MessageFns<Q>): Method<Q, readonly PodMetrics[]> => ({
  name,
  path: `/runtime.v1.RuntimeService/${name}`,
  requestType,
  responseType: podMetricsDecoder,
})
const unary = methodOf('ListPodSandboxMetrics', ListPodSandboxMetricsRequest)
const stream = methodOf('StreamPodSandboxMetrics', StreamPodSandboxMetricsRequest)

export const bindMetrics = (ctx: CallContext): RuntimeMetrics => ({
  list: (options) => callUnary(ctx, unary, {}, options),
  stream: (options) => callStream(ctx, stream, {}, options),
})
