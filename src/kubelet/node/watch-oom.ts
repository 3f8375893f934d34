// Events of the Node when the machine itself ran out of memory: SystemOOM, as upstream. The kernel's count of kills is read every few
// seconds, its log only when that has grown.
import { type KernelRecord, parseOomKill } from '../../core/kernel-text/oom-kill.js'
import { pause } from '../../core/units/retry.js'
import { nextTurn } from '../../core/units/turns.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { KernelLog, KernelRecords } from '../../ports/procfs.js'

interface OomWatchOptions {
  readonly kernel: KernelLog
  readonly clock: Clock
  readonly log: Log
  readonly event: (event: { type: 'Warning'; reason: string; message: string }) => void
  readonly signal: AbortSignal
}

const everyMs = 5_000
const afterStartMs = 1_000
/** A log of a node that runs for long has ten thousand records, each a call: more than one turn of the event loop should take. */
const recordsATurn = 200

async function* newRecords(from: KernelRecords, signal: AbortSignal): AsyncGenerator<KernelRecord> {
  for (;;) {
    const { records, isLast } = from.next(recordsATurn)
    yield* records
    if (isLast || signal.aborted) return
    await nextTurn()
  }
}

/** Ends with the signal. What is in the log a second later is of the time before: reading it is not a part of the start. */
export async function watchOom({ kernel, clock, log, event, signal }: OomWatchOptions): Promise<void> {
  const records = kernel.openRecords()
  try {
    await pause(clock, afterStartMs, signal)
    while (records?.next(recordsATurn).isLast === false && !signal.aborted) await nextTurn()
    let kills = kernel.oomKills()
    while (!signal.aborted) {
      await pause(clock, everyMs, signal)
      const now = kernel.oomKills()
      if (now === undefined || now === kills || signal.aborted) continue
      kills = now
      if (records === undefined) {
        log.warn('the OOM killer has acted, and the log of the kernel may not be read', {
          remedy: 'run as root',
        })
        continue
      }
      for await (const { text } of newRecords(records, signal)) {
        const kill = parseOomKill(text)
        if (kill === undefined) continue
        log.warn('the OOM killer has ended a process', { ...kill })
        if (!kill.isGlobal) continue
        const message = `System OOM encountered, victim process: ${kill.process}, pid: ${kill.pid}`
        event({ type: 'Warning', reason: 'SystemOOM', message })
      }
    }
  } finally {
    records?.close()
  }
}
