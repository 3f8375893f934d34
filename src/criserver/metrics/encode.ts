// The answer of ListPodSandboxMetrics straight from series to bytes. A node of 110 pods has 13,000 metrics, and most of each
// is labels; as objects they would cost more than the sweep. The bytes are those of the generated encoder.
import { encodeVarint, metricTags, podMetricsTags, wrappedValueTag } from '../../core/cri/protobuf-wire.js'
import { inTurns } from '../../core/units/turns.js'
import type { ExtraLabels, Family } from '../../stats/catalogue/family.js'
import { commonLabelKeys, type LabelSet } from '../../stats/render/label-set.js'
import type { Series } from '../../stats/render/series.js'
import { podsWrittenATurn } from '../../stats/sample.js'
import type { LaterPodSeries } from './series.js'

const mostExact = BigInt(Number.MAX_SAFE_INTEGER)

/** From the last byte to the first, so that the length of a message is known when its place comes. */
class BackwardWriter {
  private buffer: Buffer
  private at: number
  private large: { readonly value: bigint; readonly bytes: Uint8Array } = {
    value: 0n,
    bytes: new Uint8Array(),
  }

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size)
    this.at = size
  }

  get length(): number {
    return this.buffer.length - this.at
  }

  private need(size: number): void {
    if (size <= this.at) return
    const larger = Buffer.allocUnsafe(2 * this.buffer.length + size)
    const at = larger.length - this.length
    this.buffer.copy(larger, at, this.at)
    this.buffer = larger
    this.at = at
  }

  bytes(chunk: Uint8Array): void {
    this.need(chunk.length)
    this.at -= chunk.length
    this.buffer.set(chunk, this.at)
  }

  /** A whole number below 2^53. */
  varint(value: number): void {
    let size = 1
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++
    this.need(size)
    this.at -= size
    let left = value
    let i = this.at
    for (; left >= 128; left = Math.floor(left / 128)) this.buffer[i++] = (left % 128) + 128
    this.buffer[i] = left
  }

  /** Large ones are times, which come many in a row. */
  big(value: bigint): void {
    if (value >= 0n && value <= mostExact) {
      this.varint(Number(value))
      return
    }
    if (value !== this.large.value) this.large = { value, bytes: encodeVarint(value) }
    this.bytes(this.large.bytes)
  }

  /** What was written since `before` becomes the content of this field. */
  enclose(tag: number, before: number): void {
    this.varint(this.length - before)
    this.varint(tag)
  }

  take(): Uint8Array {
    return this.buffer.subarray(this.at)
  }
}

function stringFields(tag: number, values: readonly string[]): Uint8Array {
  const writer = new BackwardWriter(values.reduce((sum, v) => sum + 3 * v.length + 6, 0))
  for (const value of values.toReversed()) {
    const before = writer.length
    writer.bytes(Buffer.from(value))
    writer.enclose(tag, before)
  }
  return Uint8Array.from(writer.take())
}

/** Made once: families and label sets outlive samples. */
function kept<K extends object>(make: (key: K) => Uint8Array): (key: K) => Uint8Array {
  const known = new WeakMap<K, Uint8Array>()
  return (key) => {
    const found = known.get(key) ?? make(key)
    known.set(key, found)
    return found
  }
}

const nameField = kept((family: Family) => stringFields(metricTags.name, [family.name]))
const commonLabelFields = kept(({ values }: LabelSet) =>
  stringFields(
    metricTags.labelValue,
    commonLabelKeys.map((key) => values[key]),
  ),
)

const extraFields = ({ extraLabels }: Family, extra: ExtraLabels | undefined): Uint8Array => {
  const given = new Map(extra?.pairs ?? [])
  return stringFields(
    metricTags.labelValue,
    extraLabels.map((key) => given.get(key) ?? ''),
  )
}

const unit = { 0: 1n, 9: 1_000_000_000n } as const

function writeMetric(
  { family, labels, extra, value, timeNanos }: Series,
  extras: (family: Family, extra: ExtraLabels | undefined) => Uint8Array,
  into: BackwardWriter,
): void {
  const end = into.length
  const whole = family.decimals === 0 ? value : value / unit[family.decimals]
  if (whole !== 0n) {
    into.big(whole)
    into.varint(wrappedValueTag)
  }
  into.enclose(metricTags.value, end)
  if (family.extraLabels.length > 0) into.bytes(extras(family, extra))
  into.bytes(commonLabelFields(labels))
  if (family.type === 'gauge') {
    into.varint(1)
    into.varint(metricTags.type)
  }
  if (timeNanos !== 0n) {
    into.big(timeNanos)
    into.varint(metricTags.timestamp)
  }
  into.bytes(nameField(family))
  into.enclose(podMetricsTags.metric, end)
}

/** Families share few sets of labels: processors, devices, interfaces. */
function createExtras(): (family: Family, extra: ExtraLabels | undefined) => Uint8Array {
  const known = new Map<Family, Map<string, Uint8Array>>()
  return (family, extra) => {
    const key = extra?.key ?? ''
    const own = known.get(family) ?? new Map<string, Uint8Array>()
    known.set(family, own)
    const found = own.get(key) ?? extraFields(family, extra)
    own.set(key, found)
    return found
  }
}

/** What a pod took in the last answer: a buffer that is much too large is as much garbage. The writer grows where it is too small. */
let bytesPerPod = 24 * 1024
/** Pods differ from scrape to scrape. */
const spareShare = 0.05

export async function encodePodMetrics(pods: readonly LaterPodSeries[]): Promise<Uint8Array> {
  const into = new BackwardWriter(Math.ceil(bytesPerPod * (1 + spareShare)) * pods.length)
  const extras = createExtras()
  const writeAll = (id: string, series: readonly Series[]): void => {
    for (let i = series.length - 1; i >= 0; i--) {
      const one = series[i]
      if (one !== undefined) writeMetric(one, extras, into)
    }
    if (id !== '') into.bytes(stringFields(podMetricsTags.id, [id]))
  }
  await inTurns(pods.toReversed(), podsWrittenATurn, (collect) => {
    const { podSandboxId, pod, containers } = collect()
    const end = into.length
    for (const [id, series] of [...containers].reverse()) {
      const before = into.length
      writeAll(id, series)
      into.enclose(podMetricsTags.container, before)
    }
    writeAll(podSandboxId, pod)
    into.enclose(podMetricsTags.pod, end)
  })
  if (pods.length > 0) bytesPerPod = into.length / pods.length
  return into.take()
}
