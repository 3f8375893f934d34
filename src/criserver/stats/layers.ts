// Writable layers of containers, which only the runtime knows: asked for in the background, and waited for only when a
// container is new. A runtime may ask a process per container for such a list, so that it is asked rarely.
import type { ContainerStats } from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { FsCapacity, StatsFiles } from '../../ports/stats-files.js'
import { extraLabels } from '../../stats/catalogue/family.js'
import type { ContainerFs } from '../../stats/filesystem/filesystem.js'
import { withCapacity } from '../../stats/filesystem/filesystem.js'
import { isUnimplemented, type RuntimeCalls } from '../../stats/runtime/calls.js'
import { containerUsageOf } from '../../stats/runtime/usage.js'
import type { LayerUsage } from '../../stats/sample.js'
import { waitAtMost } from '../../stats/sampler.js'
import type { Usage } from '../../stats/usage.js'

export interface Layers {
  layer(id: string): LayerUsage | undefined
  containerFs(id: string): ContainerFs | undefined
  /** The runtime's stats of a container, without its layer. */
  runtimeUsage(id: string): Usage | undefined
  /**
   * Asks the runtime for what is not known of these containers, and waits for that, within a limit. `needUsage`: some run
   * where only the runtime sees them, so its stats must be recent.
   */
  ensure(containerIds: readonly string[], needUsage: boolean, signal: AbortSignal): Promise<void>
  /** False: the runtime has no stats of containers, and so no layers. */
  readonly areGiven: boolean
  close(): void
}

interface LayersOptions {
  readonly calls: Pick<RuntimeCalls, 'containerStats'>
  readonly files: Pick<StatsFiles, 'capacity'>
  readonly clock: Clock
  readonly onFailure: (what: string, error: unknown) => void
}

const second = 1_000_000_000n
/** As kubelets measure volumes. */
const wholeNanos = 60n * second
/** Runtimes measure layers at this interval: a new one has none before, and asking sooner gives nothing new. */
const recentNanos = 10n * second
/** After so many requests for one container it has to wait for the list of all. */
const maxTries = 4
/** Up to so many are asked for one by one. */
const maxSingle = 8
/** Stats without layers are better than none. */
const maxWaitMs = 10_000

/** A client that asks every 10 s comes a little sooner or later. */
const isPast = (at: bigint, nanos: bigint, now: bigint): boolean => now - at + second / 2n >= nanos

interface Known {
  readonly usage: Usage | undefined
  readonly layer: LayerUsage | undefined
  /** containerd sends 0 bytes of no time for a layer that it has not measured yet. */
  readonly isMeasured: boolean
  readonly askedAt: bigint
  readonly tries: number
}

export function createLayers({ calls, files, clock, onFailure }: LayersOptions): Layers {
  const life = new AbortController()
  let areGiven = true
  let known: ReadonlyMap<string, Known> = new Map()
  let capacities: ReadonlyMap<string, FsCapacity> = new Map()
  let wholeAt: bigint | undefined
  let inProgress: Promise<void> | undefined

  async function statsOf(id?: string): Promise<readonly ContainerStats[]> {
    try {
      const stats = await calls.containerStats(life.signal, id)
      areGiven = true
      return stats
    } catch (e) {
      if (isUnimplemented(e)) areGiven = false
      onFailure('ListContainerStats', e)
      return []
    }
  }

  async function measure(mountpoints: ReadonlySet<string>): Promise<void> {
    const found = new Map<string, FsCapacity>()
    for (const path of mountpoints) {
      const capacity = path === '' ? undefined : await files.capacity(path).catch(() => undefined)
      if (capacity !== undefined) found.set(path, capacity)
    }
    capacities = found
  }

  /** A container without an answer counts as asked: no caller waits for it twice. */
  async function ask(ids: readonly string[], isWhole: boolean): Promise<void> {
    const askedAt = clock.monotonicNanos()
    const answers = isWhole ? await statsOf() : (await Promise.all(ids.map(statsOf))).flat()
    const received = clock.nowNanos()
    const given = new Map(answers.map((s) => [s.attributes?.id ?? '', s]))
    const next = new Map(isWhole ? [] : known)
    for (const id of ids) {
      const before = known.get(id)
      const stats = given.get(id)
      const now = stats && containerUsageOf(stats, received)
      next.set(id, {
        usage: now?.usage ?? before?.usage,
        layer: now?.writableLayer ?? before?.layer,
        isMeasured: before?.isMeasured === true || (stats?.writableLayer?.timestamp ?? 0n) > 0n,
        askedAt,
        tries: (before?.tries ?? 0) + 1,
      })
    }
    known = next
    if (isWhole) wholeAt = askedAt
    await measure(new Set([...next.values()].map((k) => k.layer?.mountpoint ?? '')))
  }

  function begin(ids: readonly string[], isWhole: boolean): Promise<void> {
    inProgress ??= ask(ids, isWhole)
      .catch((e: unknown) => onFailure('layers', e))
      .finally(() => {
        inProgress = undefined
      })
    return inProgress
  }

  const isUnfinished = (id: string, now: bigint): boolean => {
    const one = known.get(id)
    return one?.isMeasured === false && one.tries < maxTries && now - one.askedAt >= recentNanos
  }

  async function wait(work: Promise<void>, signal: AbortSignal): Promise<void> {
    await waitAtMost(clock, maxWaitMs, work, signal)
    signal.throwIfAborted()
  }

  return {
    layer: (id) => known.get(id)?.layer,
    containerFs(id) {
      const layer = known.get(id)?.layer
      const capacity = layer && capacities.get(layer.mountpoint)
      if (layer === undefined || capacity === undefined) return undefined
      const used = { bytes: layer.usedBytes, inodes: layer.inodesUsed }
      return {
        ...withCapacity(layer.timeNanos, used, capacity),
        device: extraLabels({ device: capacity.device }),
      }
    },
    runtimeUsage: (id) => known.get(id)?.usage,
    get areGiven() {
      return areGiven
    },
    async ensure(ids, needUsage, signal) {
      const unknown = (): string[] => ids.filter((id) => !known.has(id))
      // A request in progress began before these were known.
      if (unknown().length > 0 && inProgress !== undefined) await wait(inProgress, signal)
      const added = unknown()
      if (added.length > 0 || wholeAt === undefined) {
        const isWhole = wholeAt === undefined || added.length > maxSingle
        await wait(begin(isWhole ? ids : added, isWhole), signal)
        return
      }
      const now = clock.monotonicNanos()
      const unfinished = ids.filter((id) => isUnfinished(id, now))
      const isDue = isPast(wholeAt, needUsage ? recentNanos : wholeNanos, now)
      const work =
        isDue || unfinished.length > maxSingle
          ? begin(ids, true)
          : unfinished.length > 0
            ? begin(unfinished, false)
            : undefined
      work?.catch(() => undefined)
    },
    close: () => life.abort(),
  }
}
