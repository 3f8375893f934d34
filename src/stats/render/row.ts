// A row: the labels that all series of one container, pod or slice share, printed once and kept. Label blocks are most
// of the bytes of a scrape, and they do not change while a container lives.
import type { ExtraLabels } from '../catalogue/family.js'

/** Never absent, empty where it does not apply: queries select on `image!=""`. */
export interface RowLabels {
  readonly container: string
  /** Cgroup path. */
  readonly id: string
  readonly image: string
  /** Container id of the runtime. */
  readonly name: string
  readonly namespace: string
  readonly pod: string
}

export type RowKind = 'container' | 'pod' | 'node' | 'slice'

export interface Row {
  readonly kind: RowKind
  readonly labels: RowLabels
  /** `{container="app",...}` with the extra labels at their alphabetical place. */
  block(extra: ExtraLabels | undefined): string
}

const special = /[\\"\n]/

export const escapeLabelValue = (value: string): string =>
  special.test(value) ? value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n') : value

export function formatLabels(pairs: readonly (readonly [string, string])[]): string {
  if (pairs.length === 0) return ''
  const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(',')}}`
}

export function createRow(kind: RowKind, labels: RowLabels): Row {
  const pairs = Object.entries(labels)
  const plain = formatLabels(pairs)
  const blocks = new Map<string, string>()
  return {
    kind,
    labels,
    block(extra) {
      if (extra === undefined) return plain
      const known = blocks.get(extra.key)
      if (known !== undefined) return known
      const block = formatLabels([...pairs, ...extra.pairs])
      blocks.set(extra.key, block)
      return block
    },
  }
}

/** Rows outlive samples, so that their blocks are made once for each container. */
export interface Rows {
  get(kind: RowKind, key: string, labels: () => RowLabels): Row
  /** Forgets the rows that nobody asked for since the last call. */
  sweep(): void
}

export function createRows(): Rows {
  let kept = new Map<string, Row>()
  let used = new Map<string, Row>()
  return {
    get(kind, key, labels) {
      const full = `${kind} ${key}`
      const row = used.get(full) ?? kept.get(full) ?? createRow(kind, labels())
      used.set(full, row)
      return row
    },
    sweep() {
      kept = used
      used = new Map()
    },
  }
}
