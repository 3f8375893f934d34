// The whole screen as lines, from a snapshot and what is chosen. Pure: the same input gives the same screen.
import type { CriLogLine } from '../core/cri/log-line.js'
import type { LiveSnapshot } from '../core/dashboard/model.js'
import type { TerminalSize } from '../ports/terminal.js'
import { explainLines } from './explain-text.js'
import { formatHeader } from './header.js'
import { helpLines } from './help-text.js'
import { rowId, type TopRow } from './row-values.js'
import { selectedIndex } from './rows.js'
import type { TopState } from './state.js'
import type { Style } from './style.js'
import { formatRow, formatTitles, tableShape } from './table.js'
import { clip, pad, plain } from './text.js'

export interface Logs {
  readonly title: string
  readonly lines: readonly CriLogLine[]
  /** Why there are none. */
  readonly absent: string | undefined
}

interface ScreenInput {
  readonly snapshot: LiveSnapshot | undefined
  readonly rows: readonly TopRow[]
  readonly state: TopState
  readonly logs: Logs | undefined
  readonly size: TerminalSize
  readonly style: Style
}

const headerLines = 3
const titleLines = 1
const footerLines = 1

/** Rows or lines that fit between header and footer. */
export const pageSize = ({ rows }: TerminalSize): number =>
  Math.max(1, rows - headerLines - titleLines - footerLines)

const tableKeys = 'q quit  ? help  s sort  r reverse  t tree  / filter  l logs  e explain'
const choiceKeys = 'Esc back  up/down choose  Enter or its number: log  ? help'
const textKeys = 'Esc back  up/down scroll  l logs  e explain  ? help'

/** Text that is shown in place of the table. */
export function textLines({
  snapshot,
  state,
  logs,
  rows,
}: Pick<ScreenInput, 'snapshot' | 'state' | 'logs' | 'rows'>): string[] {
  if (state.view === 'help') return helpLines()
  if (state.view === 'logs') {
    if (logs === undefined) return ['reading the log ...']
    return logs.absent === undefined
      ? logs.lines.map((l) => `${l.time.slice(11, 23)} ${plain(l.text)}`)
      : [logs.absent]
  }
  const chosen = rows.find((row) => rowId(row) === state.selected)
  if (state.view === 'choose')
    return (chosen?.pod.containers ?? []).map(
      (c, i) => `${c.id === state.logOf ? '>' : ' '} ${i + 1}  ${plain(c.name)}`,
    )
  const pod =
    chosen?.pod ??
    snapshot?.pods.find((p) => p.id === state.selected || p.containers.some((c) => c.id === state.selected))
  return snapshot === undefined ? [] : explainLines(snapshot, pod)
}

/** The chosen row stays in view, in the middle where there is more on both sides. */
export function visibleRows(rows: readonly TopRow[], state: TopState, page: number): readonly TopRow[] {
  const at = selectedIndex(rows, state)
  const first = Math.max(0, Math.min(at - Math.floor(page / 2), rows.length - page))
  return rows.slice(first, first + page)
}

function tableBody(input: ScreenInput, width: number, page: number): string[] {
  const { rows, state, style, snapshot } = input
  if (rows.length === 0) return [clip(emptyReason(snapshot, state), width)]
  const shape = tableShape(width)
  const at = selectedIndex(rows, state)
  const visible = visibleRows(rows, state, page)
  return visible.map((row) => {
    const isChosen = row === rows[at]
    const line = formatRow(
      row,
      shape,
      state,
      isChosen ? { ...style, red: (t) => t, yellow: (t) => t } : style,
    )
    return isChosen ? style.reverse(line) : line
  })
}

function emptyReason(snapshot: LiveSnapshot | undefined, { filter }: TopState): string {
  if (snapshot === undefined || snapshot.runtime.state === 'starting') return 'waiting for the list of pods'
  if (filter !== '' && snapshot.pods.length > 0)
    return `no pod matches ${JSON.stringify(filter)}; Esc clears the filter`
  if (snapshot.runtime.state === 'away') return 'the runtime is unreachable; no pods listed yet'
  return 'no pods'
}

function textBody(input: ScreenInput, width: number, page: number): string[] {
  const lines = textLines(input)
  const last = Math.max(0, lines.length - page)
  const first = Math.min(input.state.scroll ?? (input.state.view === 'logs' ? last : 0), last)
  return lines.slice(first, first + page).map((line) => clip(line, width))
}

const footerKeys = ({ view }: TopState): string =>
  view === 'table' ? tableKeys : view === 'choose' ? choiceKeys : textKeys

function titleLine({ state, logs, rows }: ScreenInput, width: number): string {
  if (state.view === 'table') return pad(formatTitles(tableShape(width), state), width)
  const pod = rows.find((row) => rowId(row) === state.selected)?.pod
  const titles = {
    help: 'help',
    explain: 'explain',
    choose: `log of which container of ${plain(`${pod?.namespace ?? ''}/${pod?.name ?? ''}`)}?`,
    logs: `log of ${logs?.title ?? ''}`,
  }
  return pad(titles[state.view], width)
}

export function renderScreen(input: ScreenInput): string[] {
  const { snapshot, state, size, style } = input
  const { columns: width, rows: height } = size
  const page = pageSize(size)
  const header =
    snapshot === undefined
      ? ['keelson top', 'waiting for the first values', ''].map((line) => clip(line, width))
      : formatHeader(snapshot, state, new Set(input.rows.map((row) => row.pod.id)).size, width, style)
  const body = state.view === 'table' ? tableBody(input, width, page) : textBody(input, width, page)
  const filler = new Array<string>(Math.max(0, page - body.length)).fill('')
  const footer = style.dim(clip(footerKeys(state), width))
  return [...header, style.reverse(titleLine(input, width)), ...body, ...filler, footer].slice(
    0,
    Math.max(1, height),
  )
}
