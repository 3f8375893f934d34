// Prometheus text, classic format 0.0.4: HELP and TYPE once for each family, all its series together, exact numbers.
// Written per family, because the series of a family come from many containers.
import type { Family } from '../catalogue/family.js'
import { createTextBytes, type TextBytes, type TextPieces } from './text-bytes.js'

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

const NANOS_PER_MILLI = 1_000_000n

/** 0 means that the value was read for this very answer, and prints no time. */
export const formatTimestamp = (timeNanos: bigint): string =>
  timeNanos === 0n ? '' : ` ${timeNanos / NANOS_PER_MILLI}`

/** 1_750_000_000n with 9 places -> `1.75`; nothing is rounded. */
export function formatDecimal(value: bigint, decimals: number): string {
  const text = value.toString()
  if (decimals === 0) return text
  if (value < 0n) return `-${formatDecimal(-value, decimals)}`
  const padded = text.length > decimals ? text : text.padStart(decimals + 1, '0')
  const point = padded.length - decimals
  let end = padded.length
  while (end > point && padded.charCodeAt(end - 1) === 48) end--
  return end === point ? padded.slice(0, point) : `${padded.slice(0, point)}.${padded.slice(point, end)}`
}

/** CRI's Metric.value is unsigned and whole: fractions are cut. */
export const criValue = (value: bigint, decimals: number): bigint => value / 10n ** BigInt(decimals)

const escapeHelp = (help: string): string => help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')

/** As much of a family as its text needs. */
type ShownFamily = Pick<Family, 'name' | 'type' | 'help' | 'decimals'>

export interface Exposition {
  /** `block` is the label block with its braces, or empty; `time` comes from formatTimestamp. */
  add(family: ShownFamily, block: string, value: bigint, time: string): void
  /** All that was added; the exposition is empty afterwards. */
  pieces(): TextPieces
}

export function createExposition(): Exposition {
  const open = new Map<string, TextBytes>()
  return {
    add(family, block, value, time) {
      let one = open.get(family.name)
      if (one === undefined) {
        one = createTextBytes()
        open.set(family.name, one)
        one.add(`# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`)
      }
      one.add(`${family.name}${block} ${formatDecimal(value, family.decimals)}${time}\n`)
    },
    pieces() {
      const sorted = [...open].sort(([a], [b]) => (a < b ? -1 : 1))
      open.clear()
      return sorted.flatMap(([, text]) => text.take())
    },
  }
}
