// What the runtime says about itself, asked every few seconds: whether it and its network are ready, its handlers, its
// version. The Node's status is made of the last answer.
import { asKeelsonError } from '../../core/errors.js'
import type { StatusResponse } from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { CriClient } from '../../ports/runtime.js'
import type { RuntimeSeen } from './decide/ready-problems.js'

export interface RuntimeState {
  seen(): RuntimeSeen
  handlers(): StatusResponse['runtimeHandlers']
  supplementalGroupsPolicy(): boolean | undefined
  version(): { readonly name: string; readonly version: string } | undefined
  /** One look now; failures are part of the state. */
  look(signal: AbortSignal): Promise<void>
}

const callTimeoutMs = 10_000

export function createRuntimeState(
  client: CriClient,
  clock: Pick<Clock, 'monotonicNanos'>,
  log: Log,
): RuntimeState {
  let healthyAt: bigint | undefined
  let last: StatusResponse | undefined
  let version: ReturnType<RuntimeState['version']>
  let isFailing = false
  const isReady = (status: StatusResponse): boolean =>
    status.status?.conditions.some((c) => c.type === 'RuntimeReady' && c.status) === true
  return {
    seen: () => ({
      healthyAgoMs:
        healthyAt === undefined ? undefined : Number((clock.monotonicNanos() - healthyAt) / 1_000_000n),
      conditions: last?.status?.conditions,
    }),
    handlers: () => last?.runtimeHandlers ?? [],
    supplementalGroupsPolicy: () => last?.features?.supplementalGroupsPolicy,
    version: () => version,
    async look(signal) {
      const options = { timeoutMs: callTimeoutMs, signal }
      try {
        last = await client.runtime.status({}, options)
        if (isReady(last)) healthyAt = clock.monotonicNanos()
        // A runtime that was replaced tells its new version with its first answer.
        if (version === undefined || isFailing) {
          const found = await client.runtime.version({ version: 'v1' }, options)
          version = { name: found.runtimeName, version: found.runtimeVersion }
        }
        isFailing = false
      } catch (e) {
        if (signal.aborted) return
        const error = asKeelsonError(e)
        if (error.code === 'internal.unexpected') throw e
        if (!isFailing)
          log.warn('the container runtime does not tell its status; the node becomes NotReady', { error })
        isFailing = true
      }
    },
  }
}
