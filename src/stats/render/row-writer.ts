// Prints the values of one row, leaving out what is switched off and what does not belong to rows of its kind.
import type { Emit, Family } from '../catalogue/family.js'
import { allFamilies, familyOf } from '../catalogue/index.js'
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

/** Not switched off, and a family that rows of this kind have. */
export const isShown = (
  { kind }: Row,
  family: Family,
  { disabledFamilies }: Pick<Switches, 'disabledFamilies'>,
): boolean =>
  !((kind === 'pod' || kind === 'slice') && family.level === 'container') &&
  !disabledFamilies.has(family.name)

export type RowWriter = (row: Row, timeNanos: bigint, emitAll: (emit: Emit) => void) => void

export const createRowWriter =
  (into: Exposition, switches: Switches): RowWriter =>
  (row, timeNanos, emitAll) => {
    const time = formatTimestamp(timeNanos)
    emitAll((family, value, extra) => {
      if (isShown(row, family, switches)) into.add(family, row.block(extra), value, time)
    })
  }
