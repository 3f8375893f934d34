// Whether files can still be reached: a disk that hangs, or a FIFO that took every thread of the pool, stops all work on
// files while timers and sockets go on as if nothing were wrong.

import { withAny } from '../core/units/any-signal.js'
import type { Clock } from '../ports/clock.js'
import type { HealthCheck } from './health.js'

interface FileSystemCheckOptions {
  /** The smallest call that needs a thread of the pool. A refusal is an answer too. */
  readonly touch: () => Promise<unknown>
  readonly clock: Clock
}

/** Writeback to a slow disk may take seconds; what takes longer is stuck. */
const boundMs = 5_000
/** An answer counts for so long, so that frequent scrapes cost nothing. */
const freshMs = 1_000

export function createFileSystemCheck({ touch, clock }: FileSystemCheckOptions): HealthCheck {
  let pending: { readonly began: bigint; readonly answer: Promise<void> } | undefined
  let answered: bigint | undefined
  const msSince = (nanos: bigint): number => Number((clock.monotonicNanos() - nanos) / 1_000_000n)

  /** One call at a time: checks that pile up would take the threads that are left. */
  const call = (): NonNullable<typeof pending> => {
    const end = (): void => {
      pending = undefined
      answered = clock.monotonicNanos()
    }
    return { began: clock.monotonicNanos(), answer: touch().then(end, end) }
  }

  return {
    name: 'filesystem',
    async check(signal) {
      if (pending === undefined && answered !== undefined && msSince(answered) < freshMs) return undefined
      pending ??= call()
      const { began, answer } = pending
      const rest = boundMs - msSince(began)
      const over = new AbortController()
      const isStuck =
        rest <= 0 ||
        (await Promise.race([
          answer.then(() => false),
          withAny([signal, over.signal], (ended) => clock.sleep(rest, ended)).then(
            () => true,
            () => false,
          ),
        ]))
      over.abort()
      return isStuck
        ? `a file system call has not returned for ${Math.round(msSince(began) / 1000)} s: a disk hangs, or all threads are blocked`
        : undefined
    },
  }
}
