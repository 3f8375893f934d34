// A check of a cell, as a line of its program's output.
export interface CheckLine {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'not here'
  readonly seconds: number
  readonly reason?: string
  readonly values?: unknown
}
/** Lines of a cell's output that begin with it are results. */
export const checkPrefix = 'check '
