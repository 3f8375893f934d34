// What a person has chosen on the screen. Changed by keys only; values come from the snapshot.

export type Layout = 'pods' | 'tree' | 'containers'
type View = 'table' | 'logs' | 'choose' | 'explain' | 'help'

export interface TopState {
  readonly view: View
  readonly layout: Layout
  readonly sort: string
  readonly ascending: boolean
  readonly filter: string
  /** Keys go into the filter. */
  readonly typing: boolean
  /** Row id; undefined: the first row. */
  readonly selected: string | undefined
  /** Container whose log is shown, or is marked among those of a pod. */
  readonly logOf: string | undefined
  /** First line shown of logs, explanation or help; undefined: the end (logs) or the start. */
  readonly scroll: number | undefined
}

export const initialState: TopState = {
  view: 'table',
  layout: 'pods',
  sort: 'mem',
  ascending: false,
  filter: '',
  typing: false,
  selected: undefined,
  logOf: undefined,
  scroll: undefined,
}
