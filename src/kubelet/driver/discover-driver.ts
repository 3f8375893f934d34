// Asks the runtime for its cgroup driver: at most three calls of RuntimeConfig, two seconds apart, until the first
// answer. What an answer means for the start is core/driver/decide-driver.ts.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { RuntimeConfigAnswer } from '../../core/driver/decide-driver.js'
import { rethrowBug } from '../../core/errors.js'
import { retry } from '../../core/units/retry.js'
import { CgroupDriver as CriDriver, type RuntimeConfigResponse } from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { CriClient } from '../../ports/runtime.js'

const maxCalls = 3
const waitMs = 2000

interface DiscoverOptions {
  readonly client: Pick<CriClient, 'runtime' | 'socketPath'>
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Log
  /** runtimeRequestTimeout: of one call. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export async function discoverDriver(o: DiscoverOptions): Promise<RuntimeConfigAnswer> {
  const { clock, log, signal } = o
  let calls = 0
  const ask = async (): Promise<RuntimeConfigAnswer> => {
    calls += 1
    try {
      return readAnswer(await askOnce(o))
    } catch (e) {
      signal.throwIfAborted()
      const error = rethrowBug(e)
      // The answer of a runtime that is too old is an answer: nothing gets better by asking again.
      if (error.code === 'runtime.unimplemented') return { kind: 'unimplemented', calls }
      log.error('RuntimeConfig failed', { attempt: calls, of: maxCalls, error })
      if (calls === maxCalls) return { kind: 'failed', calls, reason: error.message }
      throw error
    }
  }
  return retry(ask, { clock, signal, waitMs: () => waitMs })
}

export const askOnce = ({ client, timeoutMs, signal }: Omit<DiscoverOptions, 'clock' | 'log'>) =>
  client.runtime.runtimeConfig({}, { timeoutMs, signal })

const drivers: ReadonlyMap<number, CgroupDriver> = new Map([
  [CriDriver.SYSTEMD, 'systemd'],
  [CriDriver.CGROUPFS, 'cgroupfs'],
])

/** An absent `linux` and an empty one differ: the second is driver 0, systemd. */
export function readAnswer({ linux }: RuntimeConfigResponse): RuntimeConfigAnswer {
  if (linux === undefined) return { kind: 'no-linux' }
  const driver = drivers.get(linux.cgroupDriver)
  return driver === undefined
    ? { kind: 'unknown-driver', value: linux.cgroupDriver }
    : { kind: 'driver', driver }
}
