// Prometheus text, classic format 0.0.4: HELP and TYPE once for each family, all its series together, exact numbers.
// Written as strings per family, because the series of a family come from many rows.
import type { Family } from '../catalogue/family.js'
import { formatDecimal } from './decimal.js'

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

const NANOS_PER_MILLI = 1_000_000n

/** 0 means that the value was read for this very answer, and prints no time. */
export const formatTimestamp = (timeNanos: bigint): string =>
  timeNanos === 0n ? '' : ` ${timeNanos / NANOS_PER_MILLI}`

const escapeHelp = (help: string): string => help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')

/** As much of a family as its text needs. */
export type ShownFamily = Pick<Family, 'name' | 'type' | 'help' | 'decimals'>

interface Open {
  readonly family: ShownFamily
  lines: string
}

export interface Exposition {
  /** `block` is the label block with its braces, or empty; `time` comes from formatTimestamp. */
  add(family: ShownFamily, block: string, value: bigint, time: string): void
  text(): string
}

export function createExposition(): Exposition {
  const open = new Map<string, Open>()
  return {
    add(family, block, value, time) {
      let one = open.get(family.name)
      if (one === undefined) {
        one = { family, lines: '' }
        open.set(family.name, one)
      }
      one.lines += `${family.name}${block} ${formatDecimal(value, family.decimals)}${time}\n`
    },
    text() {
      const sorted = [...open.values()].sort((a, b) => (a.family.name < b.family.name ? -1 : 1))
      let text = ''
      for (const { family, lines } of sorted)
        text += `# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n${lines}`
      return text
    },
  }
}
