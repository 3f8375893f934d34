// Reads the node for the methods and the endpoint that give stats: the runtime's lists, then one sweep over the cgroups,
// shared by all callers within a second.
import { pause } from '../../core/units/retry.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import type { StatsFiles } from '../../ports/stats-files.js'
import { createCgroupLocator } from '../../stats/cgroup/locator.js'
import { type CgroupSource, type CgroupSweep, createCgroupSource } from '../../stats/cgroup/source.js'
import type { CollectContext } from '../../stats/collectors/collector.js'
import { createDeviceNames, createDevices } from '../../stats/collectors/device.js'
import { createHugePageSizes } from '../../stats/collectors/hugetlb.js'
import { createSpacedHistory } from '../../stats/cpu-rate.js'
import { createRuntimeCalls } from '../../stats/runtime/calls.js'
import { createHandlers } from '../../stats/runtime/handlers.js'
import { buildInventory, type Inventory, type PodInfo } from '../../stats/runtime/inventory.js'
import { createLayers } from './layers.js'
import { createNodeView, type NodeView } from './node-view.js'

interface ValuesOptions {
  readonly client: CriClient
  readonly cgroups: CgroupTree
  readonly procfs: Procfs
  readonly files: StatsFiles
  readonly clock: Clock
  readonly log: Log
}

type Depth = 'stats' | 'everything'

export interface Values {
  /** The node as it is now. `stats`: no more than stats messages need. Errors: those of the runtime's lists. */
  look(signal: AbortSignal, depth?: Depth): Promise<NodeView>
  /** `8:0` -> `/dev/sda`. */
  deviceName(numbers: string): string | undefined
  /** False: the runtime reports no writable layers. */
  readonly hasLayers: boolean
  /** Keeps CPU rates recent while clients ask for stats. Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
  close(): void
}

const second = 1_000_000_000n
/** A sweep that is newer than this serves the next caller too; no rate spans less. */
const sharedNanos = second
/** A sweep is made when the last one is older than this. Longer than the interval of kubelets, which never cause two. */
const idleNanos = 11n * second
/** A client that asked for metrics this long ago will ask again soon: kubelets ask for stats at the same time. */
const metricsNanos = { least: 5n * second, most: 30n * second } as const
/** Without a request for so long the loop pauses: who asks once a minute gets a rate over most of it. */
const pauseNanos = 15n * second
const listTimeoutMs = 5_000
const statsTimeoutMs = 30_000

/** Files that only metrics are made from: devices, huge pages, descriptors and limits of processes. */
const onlyForMetrics = /^(blkio\.|io\.stat$|hugetlb\.)/

const forStats = (context: CollectContext): CollectContext => {
  const { cgroups } = context
  return {
    ...context,
    cgroups: {
      version: cgroups.version,
      controllers: (path) => cgroups.controllers(path),
      read: (path, file) => (onlyForMetrics.test(file) ? undefined : cgroups.read(path, file)),
    },
    procfs: { openFiles: () => undefined, maxOpenFiles: () => undefined },
    hugePageSizes: () => [],
  }
}

const idsOf = ({ pods }: Inventory): string[] =>
  pods.flatMap((p) => [p.sandboxId, ...p.containers.map((c) => c.id)])

interface Swept {
  readonly sweep: CgroupSweep
  readonly depth: Depth
  readonly ids: ReadonlySet<string>
  readonly at: bigint
}

export function createValues(o: ValuesOptions): Values {
  const { client, cgroups, procfs, clock, log } = o
  const calls = createRuntimeCalls({ client, listTimeoutMs, statsTimeoutMs, streaming: false })
  const handlers = createHandlers({ client, listTimeoutMs })
  const nowNanos = (): bigint => clock.nowNanos()
  const deviceName = createDeviceNames(procfs)
  const context: CollectContext = {
    cgroups,
    procfs,
    device: createDevices(deviceName),
    hugePageSizes: createHugePageSizes({ cgroups }),
  }
  const layers = createLayers({
    calls,
    files: o.files,
    clock,
    onFailure: (what, error) => log.debug('failed to read filesystem stats', { what, error }),
  })
  const common = {
    procfs,
    locator: createCgroupLocator({ cgroups, podRoots: ['/kubepods', '/kubepods.slice'] }),
    nowNanos,
    isOpaque: (pod: PodInfo) => handlers.isOpaque(pod),
    runtimeUsage: (id: string) => layers.runtimeUsage(id),
    history: createSpacedHistory(sharedNanos),
  }
  const sources: Readonly<Record<Depth, CgroupSource>> = {
    stats: createCgroupSource({ ...common, context: forStats(context) }),
    everything: createCgroupSource({ ...common, context }),
  }

  let newest: Swept | undefined
  let turns: Promise<unknown> = Promise.resolve()
  let lastAsked: bigint | undefined
  let metricsAsked: bigint | undefined

  const isWithin = (at: bigint | undefined, nanos: bigint): boolean =>
    at !== undefined && clock.monotonicNanos() - at < nanos

  const serving = (ids: readonly string[], depth: Depth): CgroupSweep | undefined =>
    newest !== undefined &&
    (newest.depth === 'everything' || depth === 'stats') &&
    isWithin(newest.at, sharedNanos) &&
    ids.every((id) => newest?.ids.has(id))
      ? newest.sweep
      : undefined

  /** One after another: a sweep that was made for another caller meanwhile is shared. */
  async function sweepOver(inventory: Inventory, depth: Depth, signal: AbortSignal): Promise<CgroupSweep> {
    const ids = idsOf(inventory)
    const turn = turns.then(async () => {
      const known = serving(ids, depth)
      if (known !== undefined) return known
      const at = clock.monotonicNanos()
      const sweep = await sources[depth].sweep(inventory, signal)
      newest = { sweep, depth, ids: new Set(ids), at }
      return sweep
    })
    turns = turn.catch(() => undefined)
    return await turn
  }

  async function look(signal: AbortSignal, depth: Depth): Promise<NodeView> {
    const [sandboxes, containers] = await Promise.all([
      calls.sandboxes(signal),
      calls.containers(signal),
      handlers.refresh(signal),
    ])
    const inventory = buildInventory(sandboxes, containers, nowNanos())
    await layers.ensure(
      inventory.pods.flatMap((p) => p.containers.map((c) => c.id)),
      inventory.pods.some((p) => handlers.isOpaque(p)),
      signal,
    )
    return createNodeView({
      sandboxes: new Map(sandboxes.map((s) => [s.id, s])),
      containers: new Map(containers.map((c) => [c.id, c])),
      sweep: await sweepOver(inventory, depth, signal),
      layer: (id) => layers.layer(id),
      containerFs: (id) => layers.containerFs(id),
    })
  }

  return {
    async look(signal, depth = 'everything') {
      // One sweep for both requests, rather than one for stats and then one for everything.
      const isBoth = isWithin(metricsAsked, metricsNanos.most) && !isWithin(metricsAsked, metricsNanos.least)
      lastAsked = clock.monotonicNanos()
      if (depth === 'everything') metricsAsked = lastAsked
      return await look(signal, isBoth ? 'everything' : depth)
    },
    deviceName,
    get hasLayers() {
      return layers.areGiven
    },
    async run(signal) {
      const stop = client.onState((state) => {
        if (state === 'ready') return
        calls.forget()
        handlers.forget()
      })
      try {
        while (!signal.aborted) {
          const age = newest === undefined ? 0n : clock.monotonicNanos() - newest.at
          const wait = age < idleNanos ? idleNanos - age : idleNanos
          await pause(clock, Number(wait / 1_000_000n) + 1, signal)
          if (signal.aborted || !isWithin(lastAsked, pauseNanos) || isWithin(newest?.at, idleNanos)) continue
          await look(signal, 'stats').catch((error: unknown) =>
            log.debug('failed to read the node', { error }),
          )
        }
      } finally {
        stop()
      }
    },
    close: () => layers.close(),
  }
}
