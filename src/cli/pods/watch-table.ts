// The table of `get pods -w`: rows come in batches, below a header with the same columns.
import { formatColumns } from '../../core/pod/printing.js'

type Cells = readonly string[]

/** Takes the rows that changed and gives the text to print. The header is laid out for the rows, not before them. */
export function createWatchTable(header: Cells, isHeaderShown = true): (rows: readonly Cells[]) => string {
  /** The widest cell of each column so far; undefined: no header was printed. */
  let widest: readonly string[] | undefined
  return (rows) => {
    const before = widest
    const now = [header, ...rows].reduce<readonly string[]>(
      (all, row) => all.map((cell, i) => (cell.length >= (row[i] ?? '').length ? cell : (row[i] ?? ''))),
      before ?? header,
    )
    widest = now
    // A row wider than all before moves the columns, so they are named again.
    const isMoved = before?.some((cell, i) => cell.length < (now[i] ?? '').length) !== false
    const [, ...lines] = formatColumns([now, ...(isMoved && isHeaderShown ? [header] : []), ...rows]).split(
      '\n',
    )
    return lines.join('\n')
  }
}
