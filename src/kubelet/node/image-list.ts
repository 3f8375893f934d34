// Images of the runtime for the Node's status, listed at most twice a minute: nodes may have thousands.
import type { Image } from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { CriClient } from '../../ports/runtime.js'

const maxAgeNanos = 30_000_000_000n
const callTimeoutMs = 10_000

export function createImageList(client: CriClient, clock: Pick<Clock, 'monotonicNanos'>, log: Log) {
  let known: readonly Image[] = []
  let readAt: bigint | undefined
  return async (signal: AbortSignal): Promise<readonly Image[]> => {
    if (readAt !== undefined && clock.monotonicNanos() - readAt < maxAgeNanos) return known
    readAt = clock.monotonicNanos()
    try {
      known = (await client.image.listImages({}, { timeoutMs: callTimeoutMs, signal })).images
    } catch (error) {
      // The last list stays: an empty one would be a change of the status, and wrong.
      log.debug('images were not listed', { error })
    }
    return known
  }
}
