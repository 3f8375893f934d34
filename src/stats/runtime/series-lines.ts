// Series that wait to be written, as lines of the exposition.
import { inTurns } from '../../core/units/turns.js'
import type { Family } from '../catalogue/family.js'
import { type Exposition, formatTimestamp } from '../render/exposition.js'
import type { Series } from '../render/series.js'

/** About those of `podsWrittenATurn`. */
const linesWrittenATurn = 2_000

/** What is written of each series, in columns: as 13,000 objects a full node's would be as many to mark and move for the collector. */
export function createLines() {
  const families: Family[] = []
  const blocks: string[] = []
  const values: bigint[] = []
  const times: string[] = []
  // Series of a container have one time, and follow one another.
  let timeNanos = 0n
  let time = formatTimestamp(timeNanos)
  return {
    add(s: Series): void {
      if (s.timeNanos !== timeNanos) {
        timeNanos = s.timeNanos
        time = formatTimestamp(timeNanos)
      }
      families.push(s.family)
      blocks.push(s.labels.block(s.extra))
      values.push(s.value)
      times.push(time)
    },
    async write(into: Exposition): Promise<void> {
      await inTurns(families.entries(), linesWrittenATurn, ([i, family]) =>
        into.add(family, blocks[i] ?? '', values[i] ?? 0n, times[i] ?? ''),
      )
    },
  }
}
