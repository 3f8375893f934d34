// Watches the connection to the runtime for the life of the process: notices that the runtime is unreachable, waits until it is
// back, and asks RuntimeConfig once more, only to compare. The driver in use never changes here.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { rethrowBug } from '../../core/errors.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { CriClient } from '../../ports/runtime.js'
import { askOnce, readAnswer } from './discover-driver.js'

interface RuntimeWatchOptions {
  readonly client: CriClient
  readonly clock: Clock
  readonly log: Log
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly driver: CgroupDriver | undefined
  /** False where the release or the gate keeps the runtime from being asked. */
  readonly compares: boolean
  /** Whether the driver in use is a fallback that this runtime could end. */
  readonly inFallback: boolean
  readonly onDifference: (runtimeDriver: CgroupDriver | undefined) => void
}

/** A silent connection is looked at this often; a closed one is noticed at once. */
const lookMs = 10_000
const shortMs = 5_000

export async function watchRuntime(o: RuntimeWatchOptions): Promise<void> {
  const { client, signal } = o
  const connection = watchConnection(client)
  try {
    while (!signal.aborted) await lookOnce(o, connection)
  } catch (e) {
    if (!signal.aborted) throw e
  } finally {
    connection.stop()
  }
}

async function lookOnce(o: RuntimeWatchOptions, connection: ConnectionWatch): Promise<void> {
  const { client, clock, log, signal } = o
  await pause(clock, lookMs, signal, connection.ended())
  signal.throwIfAborted()
  const wasCut = connection.ended().aborted
  const socket = client.socketPath
  if (await answers(o, false)) {
    if (!wasCut) return
    log.info('reconnected to the container runtime', { socket })
  } else {
    log.warn('the container runtime is unreachable; waiting for it', { socket })
    const since = clock.monotonicNanos()
    while (!(await answers(o, true))) await clock.sleep(1_000, signal)
    log.info('the container runtime is reachable again', {
      socket,
      unreachableMs: Number((clock.monotonicNanos() - since) / 1_000_000n),
    })
  }
  connection.reset()
  if (o.compares) await compare(o)
}

interface ConnectionWatch {
  /** Aborted once the connection has ended since the last reset. */
  ended(): AbortSignal
  reset(): void
  stop(): void
}

function watchConnection(client: CriClient): ConnectionWatch {
  let end = new AbortController()
  const stop = client.onState((state) => {
    if (state === 'idle' || state === 'backoff') end.abort()
  })
  return {
    ended: () => end.signal,
    reset() {
      end = new AbortController()
    },
    stop,
  }
}

async function answers({ client, signal }: RuntimeWatchOptions, wait: boolean): Promise<boolean> {
  try {
    await client.runtime.version({ version: 'v1' }, { timeoutMs: shortMs, signal, waitForReady: wait })
    return true
  } catch {
    signal.throwIfAborted()
    return false
  }
}

async function compare(o: RuntimeWatchOptions): Promise<void> {
  const { log, driver, client } = o
  try {
    const answer = readAnswer(await askOnce({ ...o, timeoutMs: Math.min(o.timeoutMs, 3 * shortMs) }))
    if (answer.kind === 'driver' && answer.driver === driver) {
      o.onDifference(undefined)
      if (o.inFallback)
        log.info('the runtime now reports its cgroup driver; the next start will not need the fallback', {
          driver,
        })
    } else if (answer.kind === 'driver') {
      log.error(
        'the runtime is reachable again with another cgroup driver; keeping the current one, no pod is moved',
        {
          inUse: driver,
          runtime: answer.driver,
          socket: client.socketPath,
          remedy: 'drain the node, then restart the kubelet; or set the runtime back to its old driver',
        },
      )
      o.onDifference(answer.driver)
    } else
      log.warn(
        'the runtime is reachable again but reports no usable cgroup driver; keeping the current one',
        { answer },
      )
  } catch (e) {
    o.signal.throwIfAborted()
    const error = rethrowBug(e)
    if (error.code === 'runtime.unimplemented' && o.inFallback) return
    log.warn(
      'the runtime is reachable again but does not report its cgroup driver; keeping the current one',
      {
        error,
      },
    )
  }
}
