// A shutdown of the machine waits for its pods: a lock of logind is held from the start, and given back when the pods have ended
// or their time is over.
import { rethrowBug } from '../../core/errors.js'
import type { PodResources } from '../../core/pod/pod.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { Logind, ShutdownLock } from '../../ports/systemd.js'
import { type ShutdownPeriod, shutdownGroups, wholeTimeSeconds } from './decide/groups.js'
import type { ShutdownRecord } from './record.js'

interface ShutdownPod {
  readonly pod: PodResources
  readonly graceSeconds: number
}

export interface ShutdownOptions {
  /** Not empty. */
  readonly periods: readonly ShutdownPeriod[]
  readonly logind: Logind
  /** Signals of a shutdown from any process of the machine count, as upstream has it. */
  readonly fromAnySender: boolean
  readonly pods: {
    active(): readonly ShutdownPod[]
    kill(
      uid: string,
      request: {
        readonly reason: string
        readonly message: string
        readonly graceSeconds: number
        readonly conditions: readonly {
          readonly type: string
          readonly status: 'True'
          readonly reason: string
          readonly message: string
        }[]
      },
    ): Promise<void>
  }
  /** The status of the node is to be reported now. */
  readonly onChange: () => void
  readonly nodeEvent: (event: { type: 'Normal'; reason: string; message: string }) => void
  readonly record: ShutdownRecord
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

interface Shutdown {
  isShuttingDown(): boolean
  readonly done: Promise<void>
}

const reconnectMs = 1_000
const retryMs = 30_000
/** logind reads its configuration some time after it was told to. */
const reloadWaitsMs = [100, 200, 400, 800, 1600]

const message = 'Pod was terminated in response to imminent node shutdown.'
const condition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'TerminationByKubelet',
  message,
} as const

export function startShutdown(o: ShutdownOptions): Shutdown {
  const { logind, clock, log, signal } = o
  let shuttingDown = false
  let lock: ShutdownLock | undefined
  let work = Promise.resolve()

  const allowTime = async (): Promise<void> => {
    const needed = wholeTimeSeconds(o.periods)
    if ((await logind.inhibitDelayMs(signal)) >= needed * 1000) return
    await logind.setInhibitDelay(needed, signal)
    for (const waitMs of reloadWaitsMs) {
      await pause(clock, waitMs, signal)
      if ((await logind.inhibitDelayMs(signal)) >= needed * 1000) return
    }
    log.warn('logind allows less time for a shutdown than shutdownGracePeriod; pods may be killed early', {
      neededSeconds: needed,
      remedy: 'set InhibitDelayMaxSec in /etc/systemd/logind.conf',
    })
  }

  const takeLock = async (): Promise<void> => {
    const before = lock
    lock = await logind.lockShutdown(signal)
    before?.release()
  }

  const endPods = async (): Promise<void> => {
    await o.record.started()
    for (const { seconds, pods, priority } of shutdownGroups(o.periods, o.pods.active())) {
      log.info('shutdown: ending pods', {
        priority,
        seconds,
        pods: pods.map(({ pod }) => `${pod.namespace}/${pod.name}`),
      })
      const kills = pods.map(({ pod, graceSeconds }) =>
        o.pods.kill(pod.uid, {
          reason: 'Terminated',
          message,
          graceSeconds: Math.min(seconds, graceSeconds),
          conditions: [condition],
        }),
      )
      const timer = new AbortController()
      const late = pause(clock, seconds * 1000, signal, timer.signal).then(() => true)
      const isLate = await Promise.race([Promise.all(kills).then(() => false), late])
      timer.abort()
      if (isLate) log.warn('shutdown: pods did not end in their time', { priority, seconds })
    }
    await o.record.ended()
  }

  const take = async (isStart: boolean): Promise<void> => {
    if (isStart === shuttingDown) return
    shuttingDown = isStart
    log.warn(isStart ? 'the machine shuts down' : 'the shutdown of the machine was cancelled')
    o.nodeEvent({
      type: 'Normal',
      reason: 'NodeShutdown',
      message: `Shutdown manager detected shutdown ${isStart ? 'event' : 'cancellation'}`,
    })
    o.onChange()
    if (!isStart) return takeLock()
    try {
      await endPods()
    } finally {
      lock?.release()
    }
  }

  /** Ends with the connection to the bus. */
  const watch = async (): Promise<void> => {
    await allowTime()
    const onShutdown = (isStart: boolean): void => {
      work = work
        .then(() => take(isStart))
        .catch((error: unknown) => {
          if (!signal.aborted) log.error('shutdown: failed to end the pods', { error: rethrowBug(error) })
        })
    }
    const { ended } = await logind.watchShutdown(onShutdown, { fromAnySender: o.fromAnySender }, signal)
    if (!shuttingDown) await takeLock()
    log.info('a shutdown of the machine waits for pods', { seconds: wholeTimeSeconds(o.periods) })
    await ended
  }

  const run = async (): Promise<void> => {
    let failed = false
    while (!signal.aborted) {
      try {
        await watch()
        failed = false
      } catch (e) {
        if (signal.aborted) break
        const error = rethrowBug(e)
        if (!failed) log.error('a shutdown of the machine does not wait for pods; retrying', { error })
        failed = true
      }
      await pause(clock, failed ? retryMs : reconnectMs, signal)
    }
    await work
    lock?.release()
  }

  return { isShuttingDown: () => shuttingDown, done: run() }
}
