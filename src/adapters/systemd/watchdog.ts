// Notifies systemd from the event loop that this process is healthy: a blocked or stopped process does not, and is
// restarted. Node has no unix datagram sockets, so systemd-notify is used: one small process a minute.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { messageOf } from '../../core/errors.js'
import type { Log } from '../../ports/log.js'
import type { Watchdog } from './watchdog-env.js'

const run = promisify(execFile)

/** After a failure, such as no memory for a process, there is time for some more attempts. */
const retryShare = 0.1
/** Far more than a healthy thread pool needs. */
const fileSystemMs = 10_000

/** What is wrong; undefined: all is well. */
type Ask = (signal: AbortSignal) => Promise<string | undefined>

interface WatchdogOptions extends Watchdog {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Asked each time, besides the event loop and the file system. */
  readonly ask: Ask
  readonly log: Log
}

/** A file system call goes through the thread pool: where that is exhausted, most of the process is blocked. */
async function askFileSystem(timeoutMs: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`a file system call took longer than ${timeoutMs} ms`), timeoutMs)
  })
  try {
    return await Promise.race([stat('/').then(() => undefined), late])
  } finally {
    clearTimeout(timer)
  }
}

export function startWatchdog(o: WatchdogOptions): { stop(): void } {
  const { log, intervalMs, limitMs } = o
  const life = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let problemBefore: string | undefined
  const questionMs = Math.min(fileSystemMs, intervalMs / 2)

  const tell = async (): Promise<string | undefined> => {
    const problem =
      (await askFileSystem(questionMs)) ??
      (await o.ask(AbortSignal.any([life.signal, AbortSignal.timeout(questionMs)])))
    if (problem !== undefined) return problem
    try {
      const { NOTIFY_SOCKET, PATH } = o.env
      await run('systemd-notify', ['WATCHDOG=1'], { timeout: questionMs, env: { NOTIFY_SOCKET, PATH } })
      return undefined
    } catch (e) {
      return `systemd-notify: ${messageOf(e)}`
    }
  }
  const turn = async (): Promise<void> => {
    const problem = await tell().catch((e: unknown) => messageOf(e))
    if (life.signal.aborted) return
    if (problem !== undefined && problem !== problemBefore)
      log.error(
        'health check failed, so the systemd watchdog is not notified; systemd restarts this process if it continues',
        {
          problem,
          limitSeconds: limitMs / 1000,
        },
      )
    problemBefore = problem
    timer = setTimeout(() => void turn(), problem === undefined ? intervalMs : intervalMs * retryShare)
    timer.unref()
  }
  void turn()
  return {
    stop() {
      life.abort()
      clearTimeout(timer)
    },
  }
}
