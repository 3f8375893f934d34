// The matrix in docs/conformance.md, made from the recorded results.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { allCells, type Cell, isControl, keyOf, pairwiseCells } from './cells.js'
import type { CheckLine } from './check-line.js'
import { type Results, readResults } from './results.js'

const page = join(import.meta.dirname, '../../docs/conformance.md')
const begin = '<!-- matrix: written by npm run conformance -- matrix --record -->'
const end = '<!-- end of matrix -->'

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const short = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}...` : text)
const named = (checks: readonly CheckLine[], outcome: CheckLine['outcome']): CheckLine[] =>
  checks.filter((c) => c.outcome === outcome)

function rowOf(cell: Cell, results: Results): string {
  const { client, runtime, way, place } = cell
  const result = results[keyOf(cell)]
  const words = (): string => {
    if (result === undefined) return 'not run'
    const failed = named(result.checks, 'failed')
    const lacking = named(result.checks, 'not here').map((c) => c.name)
    return [
      `${named(result.checks, 'passed').length} of ${result.checks.length} passed`,
      ...(failed.length === 0 ? [] : [`**failed**: ${failed.map((c) => c.name).join(', ')}`]),
      ...(lacking.length === 0 ? [] : [`not here: ${lacking.join(', ')}`]),
    ].join('; ')
  }
  const seconds = result === undefined ? '' : String(Math.round(result.seconds))
  return `| ${client} | ${runtime} | ${way} | ${place} | ${inCell(words())} | ${seconds} |`
}

/** Why a check has nothing to look at, or what a runtime lacks where nothing of Keelson is in between. */
function reasonRows(cells: readonly Cell[], results: Results): string[] {
  const reasons = new Map<string, number>()
  for (const cell of cells)
    for (const { name, reason = '' } of named(results[keyOf(cell)]?.checks ?? [], 'not here')) {
      const where = isControl(cell) ? `${cell.client} on ${cell.runtime}` : 'any'
      const key = `| ${inCell(name)} | ${where} | ${inCell(short(reason))} |`
      reasons.set(key, (reasons.get(key) ?? 0) + 1)
    }
  return [...reasons.keys()].sort()
}

export function formatMatrix(results: Results): string {
  const covering = pairwiseCells(allCells)
  const shown = allCells.filter((c) => covering.includes(c) || results[keyOf(c)] !== undefined)
  const reasons = reasonRows(shown, results)
  return [
    '| client | runtime | way | place | result | s |',
    '|---|---|---|---|---|---|',
    ...shown.map((c) => rowOf(c, results)),
    ...(reasons.length === 0
      ? []
      : ['', '| check that is not here | where | reason |', '|---|---|---|', ...reasons]),
  ].join('\n')
}

export async function renderPage(): Promise<string> {
  const text = await readFile(page, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${page} has no place for the matrix`)
  return `${text.slice(0, from + begin.length)}\n${formatMatrix(await readResults())}\n${text.slice(to)}`
}

export const writePage = async (): Promise<void> => await writeFile(page, await renderPage())
