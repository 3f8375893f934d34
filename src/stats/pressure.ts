// What eviction decides from, whatever the source of the stats: the node and its file systems as they are now, and pods with the
// time of their values. No old value passes for a new one here.
import type { Clock } from '../ports/clock.js'
import type { FsCapacity, StatsFiles } from '../ports/stats-files.js'
import type { NodeMemory } from './cgroup/node-reader.js'
import type { FsUsage } from './filesystem/filesystem.js'
import { wholeFilesystem } from './filesystem/filesystem-cache.js'
import type { Loops } from './loops.js'
import type { PodFilesystems } from './render/summary.js'
import type { NodeSample, StatsSample } from './sample.js'

/** `one`: images and pods share a file system; `images`: images and layers have their own; `split`: only images have. */
export type DiskLayout = 'one' | 'images' | 'split'

export interface PressureSample {
  readonly memory: NodeMemory
  readonly rlimit: NodeSample['rlimit']
  readonly layout: DiskLayout
  readonly nodeFs: FsUsage | undefined
  readonly imageFs: FsUsage | undefined
  readonly containerFs: FsUsage | undefined
  /** Undefined: no source has any. `timeNanos` of the sample says how old they are. */
  readonly pods: StatsSample | undefined
  readonly podFilesystems: PodFilesystems
}

export interface PressureStats {
  /** Read now; undefined where there are no cgroups. */
  memory(): NodeMemory | undefined
  read(signal: AbortSignal): Promise<PressureSample>
  /** Values of pods are read anew, for a ranking. Resolves then, or after a few seconds. */
  refreshPods(signal: AbortSignal): Promise<void>
  /** The same for logs, volumes and writable layers. */
  measurePods(signal: AbortSignal): Promise<void>
}

interface PressureParts {
  readonly loops: Loops
  readonly stats: () => StatsSample | undefined
  readonly node: () => NodeSample | undefined
  readonly files: Pick<StatsFiles, 'capacity'>
  readonly clock: Pick<Clock, 'nowNanos'>
  readonly rootDir: string
}

const refreshMs = 3_000
const measureMs = 20_000

export function createPressureStats({
  loops,
  stats,
  node,
  files,
  clock,
  rootDir,
}: PressureParts): PressureStats {
  const { host, hostSampler, feeds, calls, filesystems } = loops

  const memory = (): NodeMemory | undefined => host?.node.memory()

  /** Without cgroups the runtime's sample is all there is. */
  const memoryOfSample = (): NodeMemory => ({ node: node()?.usage.memory, pods: undefined })

  return {
    memory,
    async read(signal) {
      const own = await files.capacity(rootDir)
      const { image, container } = await calls.imageMountpoints(signal).catch(() => {
        signal.throwIfAborted()
        return { image: '', container: '' }
      })
      const imageFs = image === '' ? undefined : await files.capacity(image)
      const containerFs = container === '' || container === image ? imageFs : await files.capacity(container)
      const shown = (c: FsCapacity | undefined): FsUsage | undefined =>
        c && wholeFilesystem(clock.nowNanos(), c)
      return {
        memory: memory() ?? memoryOfSample(),
        rlimit: host?.node.processes() ?? node()?.rlimit,
        layout: layoutOf(own, imageFs, containerFs),
        nodeFs: shown(own),
        imageFs: shown(imageFs),
        containerFs: shown(containerFs),
        pods: stats(),
        podFilesystems: filesystems.pods(),
      }
    },
    async refreshPods(signal) {
      await feeds?.stats.refresh(refreshMs, signal)
      if (feeds?.stats.current() === undefined) await hostSampler?.refresh(refreshMs, signal)
    },
    measurePods: (signal) => loops.measureFilesystems(measureMs, signal),
  }
}

function layoutOf(
  own: FsCapacity | undefined,
  image: FsCapacity | undefined,
  container: FsCapacity | undefined,
): DiskLayout {
  if (own === undefined || image === undefined || own.device === image.device) return 'one'
  return container === undefined || container.device === image.device ? 'images' : 'split'
}
