// A cache of filesystem usage, refreshed in the background with a budget: writable layers and the image filesystem from the
// runtime, logs and local volumes by bounded walks, capacities from statfs. No scrape ever waits for it.
import { keelsonError } from '../../core/errors.js'
import type { FsCapacity, StatsFiles } from '../../ports/stats-files.js'
import { extraLabels } from '../catalogue/family.js'
import type { PodFilesystems } from '../render/summary.js'
import type { RuntimeCalls } from '../runtime/calls.js'
import type { PodInfo } from '../runtime/inventory.js'
import { containerUsageOf, layerOf } from '../runtime/usage.js'
import type { LayerUsage, NodeFilesystems } from '../sample.js'
import type { Usage } from '../usage.js'
import type { ContainerFs } from './filesystem.js'
import { type FsUsage, type VolumeUsage, withCapacity } from './filesystem.js'

interface FilesystemCacheOptions {
  readonly files: StatsFiles
  readonly calls: Pick<RuntimeCalls, 'containerStats' | 'imageFilesystem'>
  readonly nowNanos: () => bigint
  /** Root directory of the kubelet: its filesystem is the node's. */
  readonly rootDir: string
  readonly podLogsDir: string
  /** Entries that one round may look at, for all pods together. */
  readonly maxEntries: number
  readonly onFailure: (what: string, error: unknown) => void
}

export interface FilesystemCache {
  /** One round over everything. `layers` are those that the runtime's stats have already; else it is asked. */
  refresh(pods: readonly PodInfo[], layers: readonly LayerUsage[], signal: AbortSignal): Promise<void>
  node(): NodeFilesystems
  pods(): PodFilesystems
  containerFs(id: string): ContainerFs | undefined
  /** The writable layer of a container, as the runtime reported it. */
  layer(id: string): LayerUsage | undefined
  /** The runtime's stats of a container, without its layer. */
  runtimeUsage(id: string): Usage | undefined
  /** Rises with each round. */
  readonly version: number
}

interface PodValues {
  readonly logs: ReadonlyMap<string, FsUsage>
  readonly other: readonly FsUsage[]
  readonly volumes: readonly VolumeUsage[]
}

interface State {
  readonly node: NodeFilesystems
  readonly layers: ReadonlyMap<string, LayerUsage>
  readonly usage: ReadonlyMap<string, Usage>
  readonly capacities: ReadonlyMap<string, FsCapacity>
  readonly pods: ReadonlyMap<string, PodValues>
}

const nothing: State = {
  node: { node: undefined, image: undefined, container: undefined },
  layers: new Map(),
  usage: new Map(),
  capacities: new Map(),
  pods: new Map(),
}

/** Used is what is not free: this is a whole filesystem. */
export const wholeFilesystem = (timeNanos: bigint, c: FsCapacity): FsUsage =>
  withCapacity(timeNanos, { bytes: c.capacityBytes - c.availableBytes, inodes: c.inodes - c.inodesFree }, c)

const podLogDirectory = (root: string, { ref }: PodInfo): string =>
  `${root}/${ref.namespace}_${ref.name}_${ref.uid}`

/** Volumes whose files lie on the node's own filesystem. */
const localVolumes = ['kubernetes.io~empty-dir']

export function createFilesystemCache(o: FilesystemCacheOptions): FilesystemCache {
  let state = nothing
  let version = 0

  async function attempt<T>(
    what: string,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work()
    } catch (e) {
      signal.throwIfAborted()
      o.onFailure(what, e)
      return undefined
    }
  }

  async function refresh(
    pods: readonly PodInfo[],
    already: readonly LayerUsage[],
    signal: AbortSignal,
  ): Promise<void> {
    const capacities = new Map<string, FsCapacity>()
    const capacityOf = async (path: string): Promise<FsCapacity | undefined> => {
      const known = capacities.get(path)
      if (known !== undefined || path === '') return known
      const found = await attempt('statfs', signal, () => o.files.capacity(path))
      if (found !== undefined) capacities.set(path, found)
      return found
    }
    const own = await capacityOf(o.rootDir)
    const node = own === undefined ? undefined : wholeFilesystem(o.nowNanos(), own)

    const imageFs = await attempt('ImageFsInfo', signal, () => o.calls.imageFilesystem(signal))
    const image = layerOf(imageFs, o.nowNanos())
    const imageUsage =
      image &&
      withCapacity(
        image.timeNanos,
        { bytes: image.usedBytes, inodes: image.inodesUsed },
        await capacityOf(image.mountpoint),
      )

    const listed =
      already.length > 0
        ? []
        : await attempt('ListContainerStats', signal, () => o.calls.containerStats(signal))
    const given = listed?.map((c) => containerUsageOf(c, o.nowNanos()))
    const layers =
      given === undefined
        ? state.layers
        : new Map(given.flatMap((c) => (c.writableLayer === undefined ? [] : [[c.id, c.writableLayer]])))
    for (const layer of [...layers.values(), ...already]) await capacityOf(layer.mountpoint)

    const budget = { entries: o.maxEntries }
    const podValues = new Map<string, PodValues>()
    for (const pod of pods)
      podValues.set(pod.sandboxId, await measurePod(pod, own, budget, signal, o, attempt))
    if (budget.entries <= 0)
      o.onFailure(
        'walk',
        keelsonError(
          'input.too-large',
          `measure logs and volumes: more than ${o.maxEntries} files; the rest is left out`,
        ),
      )
    state = {
      node: { node, image: imageUsage, container: imageUsage },
      layers,
      usage: given === undefined ? state.usage : new Map(given.map((c) => [c.id, c.usage])),
      capacities,
      pods: podValues,
    }
    version++
  }

  const layerUsage = (layer: LayerUsage): FsUsage =>
    withCapacity(
      layer.timeNanos,
      { bytes: layer.usedBytes, inodes: layer.inodesUsed },
      state.capacities.get(layer.mountpoint),
    )

  return {
    refresh,
    node: () => state.node,
    pods: () => ({
      rootfs(container) {
        const layer = container.writableLayer ?? state.layers.get(container.info.id)
        return layer === undefined ? undefined : layerUsage(layer)
      },
      logs: (pod, container) => state.pods.get(pod.info.sandboxId)?.logs.get(container.info.name),
      otherParts: (pod) => state.pods.get(pod.info.sandboxId)?.other ?? [],
      volumes: (pod) => state.pods.get(pod.info.sandboxId)?.volumes ?? [],
    }),
    containerFs(id) {
      const layer = state.layers.get(id)
      const capacity = layer === undefined ? undefined : state.capacities.get(layer.mountpoint)
      if (layer === undefined || capacity === undefined) return undefined
      return { ...layerUsage(layer), device: extraLabels({ device: capacity.device }) }
    },
    layer: (id) => state.layers.get(id),
    runtimeUsage: (id) => state.usage.get(id),
    get version() {
      return version
    },
  }
}

type Attempt = <T>(what: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T | undefined>

async function measurePod(
  pod: PodInfo,
  own: FsCapacity | undefined,
  budget: { entries: number },
  signal: AbortSignal,
  { files, rootDir, podLogsDir, nowNanos }: FilesystemCacheOptions,
  attempt: Attempt,
): Promise<PodValues> {
  const measure = async (directory: string, recursive: boolean): Promise<FsUsage | undefined> => {
    if (budget.entries <= 0) return undefined
    const options = { maxEntries: budget.entries, recursive, signal }
    const used = await attempt('walk', signal, () => files.usage(directory, options))
    if (used === undefined) return undefined
    budget.entries -= used.complete ? Number(used.inodes) : budget.entries
    return withCapacity(nowNanos(), used, own)
  }
  const logDirectory = podLogDirectory(podLogsDir, pod)
  const logs = new Map<string, FsUsage>()
  for (const { name } of pod.containers) {
    const usage = await measure(`${logDirectory}/${name}`, false)
    if (usage !== undefined) logs.set(name, usage)
  }
  const direct = await measure(logDirectory, false)
  const volumes: VolumeUsage[] = []
  for (const plugin of localVolumes) {
    const directory = `${rootDir}/pods/${pod.ref.uid}/volumes/${plugin}`
    for (const name of (await attempt('walk', signal, () => files.directories(directory))) ?? []) {
      const usage = await measure(`${directory}/${name}`, true)
      if (usage !== undefined) volumes.push({ ...usage, name, pvcRef: undefined, isLocalEphemeral: true })
    }
  }
  return { logs, other: direct === undefined ? [] : [direct], volumes }
}
