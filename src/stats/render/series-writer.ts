// Prints the values of one label set, leaving out families that are switched off or do not belong to its kind.
import type { Emit, Family } from '../catalogue/family.js'
import { allFamilies, familyOf } from '../catalogue/index.js'
import { type Exposition, formatTimestamp } from './exposition.js'
import type { LabelSet } from './label-set.js'

export interface Switches {
  /** Names of families to leave out. */
  readonly disabledFamilies: ReadonlySet<string>
  /** `metrics.rows` of the configuration. */
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

/** Not switched off, and a family that this kind of label set has. */
export const isShown = (
  { kind }: LabelSet,
  family: Family,
  { disabledFamilies }: Pick<Switches, 'disabledFamilies'>,
): boolean =>
  !((kind === 'pod' || kind === 'slice') && family.level === 'container') &&
  !disabledFamilies.has(family.name)

export type SeriesWriter = (labels: LabelSet, timeNanos: bigint, emitAll: (emit: Emit) => void) => void

export const createSeriesWriter =
  (into: Exposition, switches: Switches): SeriesWriter =>
  (labels, timeNanos, emitAll) => {
    const time = formatTimestamp(timeNanos)
    emitAll((family, value, extra) => {
      if (isShown(labels, family, switches)) into.add(family, labels.block(extra), value, time)
    })
  }
