// Prints the figures of one row, leaving out what is switched off and what does not belong to rows of its kind.
import type { Emit, Family } from './catalogue/family.js'
import { allFamilies, familyOf } from './catalogue/index.js'
import { type Exposition, formatTimestamp } from './exposition.js'
import type { Row } from './row.js'

export interface Switches {
  /** Names of families to leave out. */
  readonly disabledFamilies: ReadonlySet<string>
  readonly rows: { readonly pods: boolean; readonly slices: boolean; readonly node: boolean }
}

export interface SwitchRequest {
  readonly disable?: readonly string[]
  /** Families that are off unless asked for. */
  readonly enable?: readonly string[]
  readonly rows?: Partial<Switches['rows']>
}

export function decideSwitches({ disable = [], enable = [], rows = {} }: SwitchRequest = {}): Switches {
  const off = allFamilies.filter((f) => !f.enabledByDefault && !enable.includes(f.name)).map((f) => f.name)
  return {
    disabledFamilies: new Set([...off, ...disable]),
    rows: { pods: true, slices: true, node: true, ...rows },
  }
}

/** Names in a request that no family has: misspelt, or of another version. */
export const unknownFamilies = ({ disable = [], enable = [] }: SwitchRequest = {}): readonly string[] =>
  [...disable, ...enable].filter((name) => familyOf(name) === undefined)

export type RowWriter = (row: Row, timeNanos: bigint, emitAll: (emit: Emit) => void) => void

export const createRowWriter =
  (into: Exposition, { disabledFamilies }: Switches): RowWriter =>
  (row, timeNanos, emitAll) => {
    const time = formatTimestamp(timeNanos)
    const isGroup = row.kind === 'pod' || row.kind === 'slice'
    emitAll((family: Family, value, extra) => {
      if (isGroup && family.level === 'container') return
      if (disabledFamilies.has(family.name)) return
      into.add(family, row.block(extra), value, time)
    })
  }
