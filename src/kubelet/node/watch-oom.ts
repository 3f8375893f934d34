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
  let seen = kernel.records()?.at(-1)?.sequence ?? -1n
  while (!signal.aborted) {
    await pause(clock, everyMs, signal)
    const now = kernel.oomKills()
    if (now === undefined || now === kills || signal.aborted) continue
    kills = now
    const records = kernel.records()
    if (records === undefined) {
      log.warn('the OOM killer has acted, and the log of the kernel may not be read', {
        remedy: 'run as root',
      })
      continue
    }
    for (const { sequence, text } of records) {
      const kill = sequence > seen ? parseOomKill(text) : undefined
      if (kill === undefined) continue
      log.warn('the OOM killer has ended a process', { ...kill })
      if (!kill.isGlobal) continue
      const message = `System OOM encountered, victim process: ${kill.process}, pid: ${kill.pid}`
      event({ type: 'Warning', reason: 'SystemOOM', message })
    }
    seen = records.at(-1)?.sequence ?? seen
  }
}
