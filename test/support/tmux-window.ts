// A real terminal for a command: a window of tmux that can be read, typed into and resized.
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Window {
  screen(): string
  keys(...keys: string[]): void
  resize(columns: number, rows: number): void
  shows(wanted: string | RegExp, timeoutMs?: number): Promise<string>
  /** Of the process that runs in it. */
  pid(): number
  readonly isOpen: boolean
  close(): void
}

let windows = 0
export function openWindow(command: readonly string[], columns: number, rows: number): Window {
  // A server of its own: the test must not meet anybody's sessions, nor their configuration.
  const server = `keelson-test-${process.pid}-${windows++}`
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...args], { encoding: 'utf8', stdio: 'pipe' })
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), ...command)
  const isOpen = (): boolean => {
    try {
      tmux('has-session')
      return true
    } catch {
      return false
    }
  }
  const screen = (): string => (isOpen() ? tmux('capture-pane', '-p') : '')
  return {
    screen,
    keys: (...keys) => tmux('send-keys', ...keys),
    resize: (x, y) => tmux('resize-window', '-x', String(x), '-y', String(y)),
    async shows(wanted, timeoutMs = 40_000) {
      const until = Date.now() + timeoutMs
      for (;;) {
        const text = screen()
        if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) return text
        if (Date.now() > until) throw new Error(`never showed ${wanted}:\n${text}`)
        await sleep(100)
      }
    },
    pid: () => Number(tmux('list-panes', '-F', '#{pane_pid}').trim()),
    get isOpen() {
      return isOpen()
    },
    close() {
      if (isOpen()) tmux('kill-server')
    },
  }
}
