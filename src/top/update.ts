// What a key does: a new state, and sometimes something to carry out.
import { sortKeys } from './columns.js'
import { rowId, type TopRow } from './row-values.js'
import { selectedIndex } from './rows.js'
import type { Layout, TopState } from './state.js'

type Effect = 'quit' | 'load-logs' | undefined

interface Updated {
  readonly state: TopState
  readonly effect: Effect
}

interface UpdateContext {
  readonly rows: readonly TopRow[]
  /** Lines that a page holds. */
  readonly page: number
  /** Lines of the text that is shown in place of the table. */
  readonly lines: number
}

const layouts: readonly Layout[] = ['pods', 'tree', 'containers']
const clamp = (n: number, most: number): number => Math.max(0, Math.min(n, most))
const steps = (page: number): Readonly<Record<string, number>> => ({
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  'page-up': -page,
  'page-down': page,
  ' ': page,
  home: Number.NEGATIVE_INFINITY,
  g: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
})

const same = (state: TopState): Updated => ({ state, effect: undefined })

function typed(state: TopState, key: string): Updated {
  switch (key) {
    case 'enter':
      return same({ ...state, typing: false })
    case 'escape':
      return same({ ...state, typing: false, filter: '' })
    case 'backspace':
      return same({ ...state, filter: [...state.filter].slice(0, -1).join('') })
    case 'ctrl-u':
      return same({ ...state, filter: '' })
    default:
      return same([...key].length === 1 ? { ...state, filter: (state.filter + key).slice(0, 100) } : state)
  }
}

function nextSort({ sort }: TopState, by: 1 | -1): string {
  const at = sortKeys.indexOf(sort)
  return sortKeys[(at + by + sortKeys.length) % sortKeys.length] ?? 'mem'
}

const showLog = (state: TopState, logOf: string | undefined): Updated => ({
  state: { ...state, view: 'logs', logOf, scroll: undefined },
  effect: 'load-logs',
})

/** A pod with several containers has several logs: the user chooses one. */
function openLogs(state: TopState, row: TopRow | undefined): Updated {
  if (row === undefined) return same(state)
  const chosen = { ...state, selected: rowId(row) }
  const [first, second] = row.pod.containers
  if (row.container !== undefined || second === undefined)
    return showLog(chosen, row.container?.id ?? first?.id)
  return same({ ...chosen, view: 'choose', logOf: first?.id, scroll: undefined })
}

function inChoice(state: TopState, key: string, { rows, page }: UpdateContext): Updated {
  const containers = rows.find((row) => rowId(row) === state.selected)?.pod.containers ?? []
  const at = Math.max(
    0,
    containers.findIndex((c) => c.id === state.logOf),
  )
  const step = steps(page)[key]
  if (step !== undefined)
    return same({ ...state, logOf: containers[clamp(at + step, containers.length - 1)]?.id })
  if (key === 'enter' || key === 'l') return showLog(state, containers[at]?.id)
  const numbered = /^[1-9]$/.test(key) ? containers[Number(key) - 1] : undefined
  if (numbered !== undefined) return showLog(state, numbered.id)
  return same(key === 'escape' || key === 'q' ? { ...state, view: 'table', scroll: undefined } : state)
}

function inTable(state: TopState, key: string, { rows, page }: UpdateContext): Updated {
  const step = steps(page)[key]
  if (step !== undefined) {
    const row = rows[clamp(selectedIndex(rows, state) + step, rows.length - 1)]
    return same(row === undefined ? state : { ...state, selected: rowId(row) })
  }
  switch (key) {
    case '/':
      return same({ ...state, typing: true })
    case 's':
      return same({ ...state, sort: nextSort(state, 1) })
    case 'S':
      return same({ ...state, sort: nextSort(state, -1) })
    case 'r':
      return same({ ...state, ascending: !state.ascending })
    case 'n':
      return same({ ...state, sort: 'name', ascending: true })
    case 'c':
      return same({ ...state, sort: 'cpu', ascending: false })
    case 'm':
      return same({ ...state, sort: 'mem', ascending: false })
    case 't':
      return same({
        ...state,
        layout: layouts[(layouts.indexOf(state.layout) + 1) % layouts.length] ?? 'pods',
      })
    case 'l':
      return openLogs(state, rows[selectedIndex(rows, state)])
    case 'e':
    case 'enter': {
      const row = rows[selectedIndex(rows, state)]
      return same(
        row === undefined ? state : { ...state, view: 'explain', selected: rowId(row), scroll: undefined },
      )
    }
    case 'escape':
      return same({ ...state, filter: '' })
    default:
      return same(state)
  }
}

function inText(state: TopState, key: string, { rows, page, lines }: UpdateContext): Updated {
  const last = Math.max(0, lines - page)
  const step = steps(page)[key]
  if (step !== undefined) {
    const from = state.scroll ?? (state.view === 'logs' ? last : 0)
    const to = clamp(from + step, last)
    // At the end of a log, new lines go on coming into view.
    return same({ ...state, scroll: state.view === 'logs' && to === last ? undefined : to })
  }
  if (key === 'escape' || key === 'q' || (key === 'enter' && state.view !== 'help'))
    return same({ ...state, view: 'table', scroll: undefined })
  if (key === 'e') return same({ ...state, view: 'explain', scroll: undefined })
  if (key === 'l')
    return openLogs(
      state,
      rows.find((row) => rowId(row) === state.selected),
    )
  return same(state)
}

export function update(state: TopState, key: string, context: UpdateContext): Updated {
  if (key === 'ctrl-c') return { state, effect: 'quit' }
  if (state.typing) return typed(state, key)
  if (key === '?')
    return same({ ...state, view: state.view === 'help' ? 'table' : 'help', scroll: undefined })
  if (state.view === 'choose') return inChoice(state, key, context)
  if (state.view !== 'table') return inText(state, key, context)
  return key === 'q' ? { state, effect: 'quit' } : inTable(state, key, context)
}
