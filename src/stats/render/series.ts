// One series as values, before it is written as text or as a message.
import type { ExtraLabels, Family } from '../catalogue/family.js'
import type { LabelSet } from './label-set.js'

export interface Series {
  readonly family: Family
  readonly labels: LabelSet
  readonly extra: ExtraLabels | undefined
  /** In the family's smallest unit. */
  readonly value: bigint
  readonly timeNanos: bigint
}

/** Unique within one label set: `container_fs_reads_total [["device","/dev/sda"]]`. */
export const seriesKey = ({ family, extra }: Pick<Series, 'family' | 'extra'>): string =>
  extra === undefined ? family.name : `${family.name} ${extra.key}`
