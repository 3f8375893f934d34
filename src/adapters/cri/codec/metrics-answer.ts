// The answer of ListPodSandboxMetrics, kept as bytes and decoded each time it is iterated, with most strings shared: all
// metrics of a container carry the same six labels, and every container the same names. As objects, 110 pods are 100,000 strings.
import { metricTags, podMetricsTags, WireReader, wrappedValueTag } from '../../../core/cri/protobuf-wire.js'
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

/** A hostile answer must not make the search long. */
const maxNamesOfOneLength = 16

interface LabelBlock {
  readonly start: number
  readonly labels: string[]
}

/** Texts of one answer that come again and again. */
class SharedTexts {
  readonly names = new Map<number, { readonly start: number; readonly text: string }[]>()
  readonly labels = new Map<number, LabelBlock>()
  lastTime = { start: 0, length: 0, value: 0n }
}

class MetricsReader extends WireReader {
  private readonly buffer: Buffer
  private readonly shared: SharedTexts

  constructor(buffer: Buffer, shared = new SharedTexts(), at = 0) {
    super(buffer, at)
    this.buffer = buffer
    this.shared = shared
  }

  /** A second reader of the same answer. */
  from(at: number): MetricsReader {
    return new MetricsReader(this.buffer, this.shared, at)
  }

  /** Metrics are read after the call has ended, where nothing else turns this into an error of ours. */
  protected override unreadable(): never {
    const where = `unreadable field at byte ${this.at} of ${this.buffer.length}`
    throw keelsonError(
      'runtime.failed',
      `read the metrics of pods: ${where}; does the runtime implement CRI v1?`,
    )
  }

  /** Only times are that large, and the metrics of one container have the same. */
  protected override largeVarint(start: number): bigint {
    const length = this.at - start
    const { lastTime } = this.shared
    if (length === lastTime.length && this.isSame(start, lastTime.start, length)) return lastTime.value
    const value = super.largeVarint(start)
    this.shared.lastTime = { start, length, value }
    return value
  }

  /** By hand: Buffer.compare checks and boxes its four numbers, which was a third of the garbage of a whole scrape. */
  private isSame(a: number, b: number, length: number): boolean {
    const { bytes } = this
    for (let i = 0; i < length; i++) if (bytes[a + i] !== bytes[b + i]) return false
    return true
  }

  text(end: number): string {
    const contentEnd = this.content(end)
    const text = this.buffer.toString('utf8', this.at, contentEnd)
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
    const text = this.buffer.toString('utf8', start, contentEnd)
    if (known.length < maxNamesOfOneLength) known.push({ start, text })
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
    } while (next < end && this.buffer[next] === metricTags.labelValue)
    const length = next - start
    const known = this.shared.labels.get(length)
    if (known !== undefined && this.isSame(start, known.start, length)) {
      this.at = next
      return known.labels
    }
    this.at = start
    const labels: string[] = []
    for (; this.at < next; this.at++) labels.push(this.text(next))
    this.at = next
    this.shared.labels.set(length, { start, labels })
    return labels
  }
}

function readValue(reader: MetricsReader, end: number): bigint {
  let value = 0n
  while (reader.at < end) {
    const tag = reader.varint()
    if (tag === wrappedValueTag) value = reader.uint64()
    else reader.skip(tag, end)
  }
  reader.finish(end)
  return value
}

function readMetric(reader: MetricsReader, end: number): Metric {
  let name = ''
  let timestamp = 0n
  let metricType = 0
  let labelValues: string[] = []
  let value: { value: bigint } | undefined
  while (reader.at < end) {
    const tag = reader.varint()
    if (tag === metricTags.name) name = reader.name(end)
    else if (tag === metricTags.timestamp) timestamp = reader.int64()
    else if (tag === metricTags.type) metricType = reader.int32()
    else if (tag === metricTags.labelValue) {
      const labels = reader.labels(end)
      labelValues = labelValues.length === 0 ? labels : [...labelValues, ...labels]
    } else if (tag === metricTags.value) value = { value: readValue(reader, reader.content(end)) }
    else reader.skip(tag, end)
  }
  reader.finish(end)
  return { name, timestamp, metricType: metricType as MetricType, labelValues, value }
}

/** Decoded anew by each iteration. */
const metricsIn = (reader: MetricsReader, start: number, end: number): Iterable<Metric> => ({
  *[Symbol.iterator]() {
    const own = reader.from(start)
    while (own.at < end) {
      const tag = own.varint()
      if (tag === podMetricsTags.metric) yield readMetric(own, own.content(end))
      else own.skip(tag, end)
    }
  },
})

type Group = { readonly id: string; readonly metrics: Iterable<Metric> }

/** Pods and containers look alike: an id, metrics, and fields of their own. */
function readGroup(reader: MetricsReader, end: number, isOwn: (tag: number) => boolean = () => false): Group {
  let id = ''
  const start = reader.at
  while (reader.at < end) {
    const tag = reader.varint()
    if (tag === podMetricsTags.id) id = reader.text(end)
    else if (!isOwn(tag)) reader.skip(tag, end)
  }
  reader.finish(end)
  return { id, metrics: metricsIn(reader, start, end) }
}

function readPod(reader: MetricsReader, end: number): PodMetrics {
  const containerMetrics: PodMetrics['containerMetrics'][number][] = []
  const { id, metrics } = readGroup(reader, end, (tag) => {
    if (tag !== podMetricsTags.container) return false
    const container = readGroup(reader, reader.content(end))
    containerMetrics.push({ containerId: container.id, metrics: container.metrics })
    return true
  })
  return { podSandboxId: id, metrics, containerMetrics }
}

/** The unary answer and one message of the stream: both are pods in field 1. */
export const podMetricsDecoder: WholeDecoder<readonly PodMetrics[]> = {
  decodeWhole(bytes) {
    const reader = new MetricsReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const pods: PodMetrics[] = []
    while (reader.at < bytes.length) {
      const tag = reader.varint()
      if (tag === podMetricsTags.pod) pods.push(readPod(reader, reader.content(bytes.length)))
      else reader.skip(tag, bytes.length)
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
