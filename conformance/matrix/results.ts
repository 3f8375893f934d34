// What was found in each cell, kept in a file so that a run goes on where another ended.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cell, isControl, keyOf } from './cells.js'
import type { CheckLine } from './check-line.js'

export interface CellResult {
  /** Day of the run. */
  readonly on: string
  readonly seconds: number
  readonly checks: readonly CheckLine[]
}
export type Results = Readonly<Record<string, CellResult>>

export const resultsFile = join(import.meta.dirname, '../results/matrix.json')

export async function readResults(file = resultsFile): Promise<Results> {
  const text = await readFile(file, 'utf8').catch((e: NodeJS.ErrnoException) => {
    if (e.code === 'ENOENT') return '{}'
    throw e
  })
  return JSON.parse(text) as Results
}

/** Another run may have finished other cells meanwhile: the file is read again before it is written. */
export async function keepResult(cell: Cell, result: CellResult, file = resultsFile): Promise<void> {
  const all: Record<string, CellResult> = { ...(await readResults(file)), [keyOf(cell)]: result }
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
  await writeFile(`${file}.new`, `${JSON.stringify(sorted, undefined, 1)}\n`)
  await rename(`${file}.new`, file)
}

/** A cell without anything of Keelson cannot fail because of it: what it lacks is the runtime's or the client's. */
export const judged = (cell: Cell, checks: readonly CheckLine[]): CheckLine[] =>
  checks.map((c) => (c.outcome === 'failed' && isControl(cell) ? { ...c, outcome: 'not here' } : c))

export const isFinished = (result: CellResult | undefined): boolean =>
  result?.checks.every((c) => c.outcome !== 'failed') === true
