// Writable layers of containers, which only the runtime knows: asked for in the background, and waited for only when a
// container is new.
import type { Clock } from '../../ports/clock.js'
import type { StatsFiles } from '../../ports/stats-files.js'
import { createFilesystemKeeper, type FilesystemKeeper } from '../../stats/filesystem-keeper.js'
import { isUnimplemented, type RuntimeCalls } from '../../stats/runtime-calls.js'

export interface Layers extends Pick<FilesystemKeeper, 'layer' | 'containerFs' | 'runtimeUsage'> {
  /** Asks the runtime for what is not known of these containers, and waits for that; not for ever. */
  ensure(containerIds: readonly string[], signal: AbortSignal): Promise<void>
  /** False: the runtime has no stats of containers, and so no layers. */
  readonly areGiven: boolean
  close(): void
}

export interface LayersOptions {
  readonly calls: Pick<RuntimeCalls, 'containerStats' | 'imageFilesystem'>
  readonly files: StatsFiles
  readonly clock: Clock
  readonly onFailure: (what: string, error: unknown) => void
}

/** Runtimes measure them at this pace themselves. */
const freshNanos = 10_000_000_000n
/** Figures without layers are better than none. */
const longestWaitMs = 10_000

export function createLayers({ calls, files, clock, onFailure }: LayersOptions): Layers {
  const life = new AbortController()
  let areGiven = true
  let asked: ReadonlySet<string> = new Set()
  let askedAt: bigint | undefined
  let underWay: Promise<void> | undefined
  const keeper = createFilesystemKeeper({
    files,
    calls: {
      imageFilesystem: (signal) => calls.imageFilesystem(signal),
      async containerStats(signal) {
        try {
          const stats = await calls.containerStats(signal)
          areGiven = true
          return stats
        } catch (e) {
          if (isUnimplemented(e)) areGiven = false
          throw e
        }
      },
    },
    nowNanos: () => clock.nowNanos(),
    rootDir: '/',
    podLogsDir: '/',
    maxEntries: 0,
    onFailure(what, error) {
      // Logs and volumes are not looked at here.
      if (what !== 'walk') onFailure(what, error)
    },
  })
  const refresh = (ids: readonly string[]): Promise<void> => {
    underWay ??= keeper
      .refresh([], [], life.signal)
      .catch((e: unknown) => onFailure('layers', e))
      .finally(() => {
        asked = new Set(ids)
        askedAt = clock.monotonicNanos()
        underWay = undefined
      })
    return underWay
  }
  async function wait(work: Promise<void>, signal: AbortSignal): Promise<void> {
    const done = new AbortController()
    const bound = clock.sleep(longestWaitMs, AbortSignal.any([signal, done.signal])).catch(() => undefined)
    await Promise.race([work, bound])
    done.abort()
    signal.throwIfAborted()
  }
  return {
    layer: (id) => keeper.layer(id),
    containerFs: (id) => keeper.containerFs(id),
    runtimeUsage: (id) => keeper.runtimeUsage(id),
    get areGiven() {
      return areGiven
    },
    async ensure(ids, signal) {
      const isStale = askedAt === undefined || clock.monotonicNanos() - askedAt > freshNanos
      const hasNew = askedAt === undefined || ids.some((id) => !asked.has(id))
      if (hasNew) {
        // One that is under way began before these were known.
        if (underWay !== undefined) await wait(underWay, signal)
        if (ids.some((id) => !asked.has(id)) || askedAt === undefined) await wait(refresh(ids), signal)
      } else if (isStale) refresh(ids).catch(() => undefined)
    },
    close: () => life.abort(),
  }
}
