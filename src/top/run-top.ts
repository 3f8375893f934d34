// `keelson top` on a terminal: readings on a timer, keys at once, and only the lines that changed are written.
import type { LiveSnapshot } from '../core/dashboard/model.js'
import { asKeelsonError } from '../core/errors.js'
import { pause } from '../core/units/retry.js'
import type { Clock } from '../ports/clock.js'
import type { Terminal } from '../ports/terminal.js'
import type { LiveReader } from '../serve/dashboard/dashboard.js'
import { parseKeys } from './keys.js'
import type { ReadLog } from './read-log.js'
import { topRows } from './rows.js'
import { type Logs, pageSize, renderScreen, textLines, visibleRows } from './screen.js'
import { initialState, type TopState } from './state.js'
import type { Style } from './style.js'
import { update } from './update.js'

interface TopOptions {
  readonly reader: Pick<LiveReader, 'take' | 'periodMs'>
  readonly terminal: Terminal
  readonly readLog: ReadLog
  readonly clock: Clock
  readonly style: Style
  readonly initial: Partial<TopState>
  readonly signal: AbortSignal
  /** Called with the pod on screen: only that is read in full. */
  readonly onView?: (state: TopState, visible: ReadonlySet<string>) => void
}

/** Resolves when the user quits or the signal is aborted. */
export async function runTop(o: TopOptions): Promise<void> {
  const { terminal, clock } = o
  const over = new AbortController()
  const signal = AbortSignal.any([o.signal, over.signal])
  let state: TopState = { ...initialState, ...o.initial }
  let snapshot: LiveSnapshot | undefined
  let logs: Logs | undefined
  let drawn: readonly string[] = []
  let wake = new AbortController()

  const rows = () => (snapshot === undefined ? [] : topRows(snapshot, state))

  function draw(): void {
    const shown = rows()
    const screen = renderScreen({
      snapshot,
      rows: shown,
      state,
      logs,
      size: terminal.size(),
      style: o.style,
    })
    const changed = screen.flatMap((line, i) => (line === drawn[i] ? [] : [`\x1b[${i + 1};1H${line}\x1b[K`]))
    const rest = screen.length < drawn.length ? [`\x1b[${screen.length + 1};1H\x1b[J`] : []
    if (changed.length + rest.length > 0) terminal.write(`${changed.join('')}${rest.join('')}`)
    drawn = screen
    o.onView?.(state, new Set(visibleRows(shown, state, pageSize(terminal.size())).map((r) => r.pod.id)))
  }

  async function loadLogs(): Promise<void> {
    const row = rows().find((r) => r.container?.id === state.selected || r.pod.id === state.selected)
    const container = row?.pod.containers.find((c) => c.id === state.logOf)
    if (row === undefined || container === undefined) {
      logs = { title: '', lines: [], absent: 'this pod has no running container' }
      return
    }
    const title = `${row.pod.namespace}/${row.pod.name} ${container.name}`
    try {
      const answer = await o.readLog(row.pod, container)
      logs =
        'absent' in answer
          ? { title, lines: [], absent: answer.absent }
          : { title, lines: answer, absent: undefined }
    } catch (e) {
      logs = { title, lines: [], absent: asKeelsonError(e).message }
    }
  }

  function onInput(text: string): void {
    let isWoken = false
    for (const key of parseKeys(text)) {
      const before = state
      const lines = state.view === 'table' ? 0 : textLines({ snapshot, state, logs, rows: rows() }).length
      const { state: next, effect } = update(state, key, {
        rows: rows(),
        page: pageSize(terminal.size()),
        lines,
      })
      state = next
      if (effect === 'quit') {
        over.abort()
        return
      }
      if (effect === 'load-logs') {
        logs = undefined
        void loadLogs().then(draw)
      }
      // An explanation needs the tree, which the last reading did not have.
      if (state.view === 'explain' && before.view !== 'explain') isWoken = true
    }
    draw()
    if (isWoken) wake.abort()
  }

  const stopInput = terminal.onInput(onInput)
  const stopResize = terminal.onResize(() => {
    drawn = []
    terminal.write('\x1b[2J')
    draw()
  })
  try {
    draw()
    let isFirst = true
    while (!signal.aborted) {
      const started = clock.monotonicNanos()
      snapshot = await o.reader.take(signal)
      if (state.view === 'logs') await loadLogs()
      draw()
      const tookMs = Number((clock.monotonicNanos() - started) / 1_000_000n)
      wake = new AbortController()
      // Rates need two readings: the second one comes soon.
      const waitMs = isFirst ? Math.min(500, o.reader.periodMs) : Math.max(o.reader.periodMs - tookMs, 100)
      isFirst = false
      await pause(clock, waitMs, AbortSignal.any([signal, wake.signal]))
    }
  } catch (e) {
    if (!signal.aborted) throw e
  } finally {
    stopInput()
    stopResize()
  }
}
