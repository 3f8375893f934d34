// The cells of the matrix: which client, on which runtime, through what, where. A run covers every pair of values at least
// once, which finds what two parts do to each other at a fraction of the cells.
import { type Place, places, type RuntimeName, runtimes } from '../node-environment/plan.js'

export const clients = ['upstream kubelet', 'keelson kubelet', 'crictl', 'critest'] as const
export type Client = (typeof clients)[number]
export const ways = ['directly', 'keelson cri'] as const
export type Way = (typeof ways)[number]

export interface Cell {
  readonly client: Client
  readonly runtime: RuntimeName
  readonly way: Way
  readonly place: Place
}

export const keyOf = ({ client, runtime, way, place }: Cell): string =>
  [client, runtime, way, place].join(', ')

export const allCells: readonly Cell[] = places.flatMap((place) =>
  ways.flatMap((way) =>
    runtimes.flatMap((runtime) => clients.map((client) => ({ client, runtime, way, place }))),
  ),
)

const dimensions = ['client', 'runtime', 'way', 'place'] as const

/** Every two values of different dimensions that the cell brings together. */
export const pairsOf = (cell: Cell): string[] =>
  dimensions.flatMap((a, i) => dimensions.slice(i + 1).map((b) => `${a}=${cell[a]} ${b}=${cell[b]}`))

/**
 * Cells in which every pair that is possible occurs. Greedy: each time the cell with the most pairs that are still missing; of
 * equal ones the first, so that the same cells are chosen every time.
 */
export function pairwiseCells(cells: readonly Cell[]): Cell[] {
  const missing = new Set(cells.flatMap(pairsOf))
  const chosen: Cell[] = []
  const gain = (cell: Cell): number => pairsOf(cell).filter((p) => missing.has(p)).length
  while (missing.size > 0) {
    const best = cells.reduce((a, b) => (gain(b) > gain(a) ? b : a))
    for (const pair of pairsOf(best)) missing.delete(pair)
    chosen.push(best)
  }
  // In the order of the product: fast places first.
  return cells.filter((c) => chosen.includes(c))
}

/** Nothing of Keelson is in it: what is missing there is missing in the runtime or the client. */
export const isControl = ({ client, way }: Cell): boolean =>
  way === 'directly' && client !== 'keelson kubelet'
