// Keeps the list of pods. A runtime that does not answer leaves the last list in place: pods that run are never
// forgotten because somebody was slow.
import type { Clock } from '../../ports/clock.js'
import type { RuntimeCalls } from './calls.js'
import { buildInventory, type Inventory } from './inventory.js'

export interface InventoryCache {
  /** The newest list, at most half a period old where the runtime answers. */
  refresh(signal: AbortSignal): Promise<Inventory>
  current(): Inventory
}

export interface InventoryCacheOptions {
  readonly calls: Pick<RuntimeCalls, 'sandboxes' | 'containers'>
  readonly clock: Clock
  readonly periodMs: number
  readonly onFailure: (error: unknown) => void
  /** False: a runtime that is not there is told at once, with the reason. Default true: the first list waits for it. */
  readonly waitsForFirst?: boolean
}

export function createInventoryCache(o: InventoryCacheOptions): InventoryCache {
  let current: Inventory = { timeNanos: 0n, pods: [] }
  let takenAt: bigint | undefined
  let underWay: Promise<void> | undefined

  async function list(signal: AbortSignal): Promise<void> {
    try {
      // Only the first list is worth waiting for; later the last one serves.
      const waits = takenAt === undefined && o.waitsForFirst !== false
      const [sandboxes, containers] = await Promise.all([
        o.calls.sandboxes(signal, waits),
        o.calls.containers(signal, waits),
      ])
      current = buildInventory(sandboxes, containers, o.clock.nowNanos())
      takenAt = o.clock.monotonicNanos()
    } catch (e) {
      signal.throwIfAborted()
      o.onFailure(e)
    }
  }

  const isFresh = (): boolean =>
    takenAt !== undefined &&
    o.clock.monotonicNanos() - takenAt < BigInt(Math.round(o.periodMs / 2)) * 1_000_000n

  return {
    current: () => current,
    async refresh(signal) {
      if (!isFresh()) {
        underWay ??= list(signal).finally(() => {
          underWay = undefined
        })
        await underWay
      }
      return current
    },
  }
}
