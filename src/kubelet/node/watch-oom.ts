// Events of the Node when the machine itself ran out of memory: SystemOOM, as upstream. The kernel's count of kills is read every few
// seconds, its log only when that has grown.
import { parseOomKill } from '../../core/kernel-text/oom-kill.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { KernelLog } from '../../ports/procfs.js'

interface OomWatchOptions {
  readonly kernel: KernelLog
  readonly clock: Clock
  readonly log: Log
  readonly event: (event: { type: 'Warning'; reason: string; message: string }) => void
  readonly signal: AbortSignal
}

const everyMs = 5_000

/** Ends with the signal. */
export async function watchOom({ kernel, clock, log, event, signal }: OomWatchOptions): Promise<void> {
  let kills = kernel.oomKills()
  // Not the last record of now: a start would read the whole log for it.
  let seen = -1n
  while (!signal.aborted) {
    await pause(clock, everyMs, signal)
    const now = kernel.oomKills()
    if (now === undefined || now === kills || signal.aborted) continue
    const added = Number(now - (kills ?? now))
    kills = now
    const records = kernel.records()
    if (records === undefined) {
      log.warn('the OOM killer has acted, and the log of the kernel may not be read', {
        remedy: 'run as root',
      })
      continue
    }
    const found = records.flatMap(({ sequence, text }) => (sequence > seen ? (parseOomKill(text) ?? []) : []))
    seen = records.at(-1)?.sequence ?? seen
    // Those before the start are in the log too; the newest are the ones that were counted.
    for (const kill of found.slice(Math.max(0, found.length - added))) {
      log.warn('the OOM killer has ended a process', { ...kill })
      if (!kill.isGlobal) continue
      const message = `System OOM encountered, victim process: ${kill.process}, pid: ${kill.pid}`
      event({ type: 'Warning', reason: 'SystemOOM', message })
    }
  }
}
