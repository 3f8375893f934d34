// The kinds of values that configuration fields have, each as one builder: what is accepted, what is said when not.

import { isKeelsonError } from '../core/errors.js'
import { parseEvictionThreshold } from '../core/plan/allocatable.js'
import { bytes, MiB } from '../core/units/bytes.js'
import { formatGoDuration, parseGoDuration } from '../core/units/go-duration.js'
import { parseQuantity, type Quantity } from '../core/units/quantity.js'
import { type FieldBuilder, fieldOf, type Read, read, refuse } from './field.js'
import type { Json } from './node.js'
import { describeJson } from './parse-yaml.js'

export const text = fieldOf<string>('string', (v) =>
  typeof v === 'string' ? read(v) : refuse(`must be a string, not ${describeJson(v)}`, 'quote it'),
)

/** Text that names a path, endpoint or cgroup: no NUL and no line break can be meant. */
export const path = fieldOf<string>('path', (v) => {
  if (typeof v !== 'string') return refuse(`must be a string, not ${describeJson(v)}`, 'quote it')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  return /[\u0000-\u001f]/.test(v) ? refuse('has control characters', 'remove them') : read(v)
})

export const flag = fieldOf<boolean>('boolean', (v) =>
  typeof v === 'boolean'
    ? read(v)
    : refuse(`must be true or false, not ${describeJson(v)}`, 'use true or false'),
)

export const integer = (min: number, max: number): FieldBuilder<number> =>
  fieldOf<number>(`integer ${min}..${max}`, (v) =>
    typeof v === 'number' && Number.isSafeInteger(v) && v >= min && v <= max
      ? read(v)
      : refuse(`must be a whole number from ${min} to ${max}, not ${describeJson(v)}`, 'fix the number'),
  )

export const port = integer(1, 65535)
export const portOrOff = integer(0, 65535)
export const int32 = integer(-(2 ** 31), 2 ** 31 - 1)

export const choice = <T extends string>(...allowed: readonly T[]): FieldBuilder<T> =>
  fieldOf<T>(allowed.map((a) => `\`${a}\``).join(' or '), (v) => {
    const found = allowed.find((a) => a === v)
    return found === undefined
      ? refuse(`${describeJson(v)} is not one of ${allowed.join(', ')}`, `use ${allowed.join(' or ')}`)
      : read(found)
  })

declare const millisBrand: unique symbol
/** Milliseconds, possibly fractional. */
type Millis = number & { readonly [millisBrand]: true }
const toMillis = (nanos: bigint): Millis => (Number(nanos) / 1e6) as Millis

export const duration = (minNanos = 0n, maxNanos = 2n ** 63n - 1n): FieldBuilder<Millis> =>
  fieldOf<Millis>('duration', (v) => {
    const nanos = typeof v === 'string' ? parseGoDuration(v) : undefined
    if (nanos === undefined)
      return refuse(`${describeJson(v)} is not a duration`, 'use for example 30s, 2m0s or 100ms')
    return nanos >= minNanos && nanos <= maxNanos
      ? read(toMillis(nanos))
      : refuse(
          `${describeJson(v)} is outside ${formatGoDuration(minNanos)} to ${formatGoDuration(maxNanos)}`,
          'fix the duration',
        )
  })

export const textList = fieldOf<readonly string[]>('list of strings', (v) =>
  Array.isArray(v) && v.every((item) => typeof item === 'string')
    ? read(v)
    : refuse(`must be a list of strings, not ${describeJson(v)}`, 'use [a, b]'),
)

export const integerList = fieldOf<readonly number[]>('list of integers', (v) =>
  Array.isArray(v) && v.every((item): item is number => Number.isSafeInteger(item))
    ? read(v)
    : refuse(`must be a list of whole numbers, not ${describeJson(v)}`, 'use [23, 29]'),
)

/** Range and gate are the Memory QoS rules' business; null says: no memory.high. */
export const factor = fieldOf<number | null>('number above 0, at most 1, or null', (v) => {
  if (v === null || typeof v === 'number') return read(v)
  return typeof v === 'bigint'
    ? read(Number(v))
    : refuse(`must be a number, not ${describeJson(v)}`, 'use for example 0.9')
})

const isMapping = (v: Json): v is { readonly [key: string]: Json } =>
  v !== null && typeof v === 'object' && !Array.isArray(v)

/** Reads each entry with `readEntry`; the first refusal names its key. */
export function mapOf<T>(
  kind: string,
  readEntry: (key: string, value: Json) => Read<T>,
): FieldBuilder<Readonly<Record<string, T>>> {
  return fieldOf<Readonly<Record<string, T>>>(kind, (v) => {
    if (!isMapping(v))
      return refuse(`must be a mapping, not ${describeJson(v)}`, 'write one key: value per line')
    const result: Record<string, T> = Object.create(null)
    const refused: { message: string; remedy: string }[] = []
    for (const [key, value] of Object.entries(v)) {
      const entry = readEntry(key, value)
      if (entry.ok) result[key] = entry.value
      else refused.push({ message: `${key.slice(0, 80)}: ${entry.message}`, remedy: entry.remedy })
    }
    if (refused.length === 0) return read(result)
    return refuse(
      refused.map((r) => r.message).join('; '),
      [...new Set(refused.map((r) => r.remedy))].join('; '),
    )
  })
}

/** Checked by the gate table, not here: names and values are that table's business. */
export const gateMap = mapOf<Json>('map of booleans', (_, value) => read(value))

const maxAmount = 2n ** 63n - 1n

function readQuantity(value: Json): Read<Quantity> {
  if (typeof value !== 'string') {
    return refuse(
      `must be a string, not ${describeJson(value)}`,
      'quote the amount, for example "500m" or "1Gi"',
    )
  }
  try {
    const quantity = parseQuantity(value)
    if (quantity.nanos < 0n) return refuse(`${describeJson(value)} is negative`, 'use an amount of 0 or more')
    if (quantity.nanos / 1_000_000_000n >= maxAmount) {
      return refuse(`${describeJson(value)} is too large`, 'fix the amount')
    }
    return read(quantity)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return refuse(`${describeJson(value)} is not a quantity`, 'use for example "500m", "2" or "1.5Gi"')
  }
}

const reservable = /^(cpu|memory|ephemeral-storage|pid|hugepages-.+)$/

export const reservation = mapOf<Quantity>('map of quantities', (key, value) =>
  reservable.test(key)
    ? readQuantity(value)
    : refuse('cannot be reserved', 'reserve cpu, memory, ephemeral-storage or pid'),
)

/** `pid` counts and bytes alike; for log sizes and such. */
export const quantityText = fieldOf<Quantity>('quantity', readQuantity)

const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'allocatableMemory.available',
  'pid.available',
] as const

/** Undefined: the key is a signal. */
export const signalRefusal = (key: string): ReturnType<typeof refuse> | undefined =>
  evictionSignals.some((s) => s === key)
    ? undefined
    : refuse('is not an eviction signal', `use ${evictionSignals.slice(0, 5).join(', ')} or pid.available`)

/** The text is kept: a percentage means something only beside the node's capacity. */
function readAmountOrPercentage(key: string, value: Json): Read<string> {
  const refused = signalRefusal(key)
  if (refused !== undefined) return refused
  if (typeof value !== 'string' || !value.endsWith('%')) {
    const quantity = readQuantity(value)
    return quantity.ok ? read(String(value)) : quantity
  }
  try {
    parseEvictionThreshold(value, bytes(MiB))
    return read(value)
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return refuse(
      `${describeJson(value)} is not a percentage from 0% to 100%`,
      'use for example "5%" or "100Mi"',
    )
  }
}

export const evictionMap = mapOf<string>('map of thresholds', readAmountOrPercentage)
export const reclaimMap = mapOf<string>('map of amounts', readAmountOrPercentage)
