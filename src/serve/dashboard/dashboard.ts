// The live snapshot of a node: read once for all open dashboards, and only while one is open.

import type {
  LiveCluster,
  LiveDriver,
  LiveRpc,
  LiveRuntime,
  LiveSetting,
  LiveSnapshot,
  LiveSources,
  LiveWarning,
  Part,
} from '../../core/dashboard/model.js'
import { asKeelsonError } from '../../core/errors.js'
import type { LiveReport } from '../../core/memory-qos/effective-values.js'
import { pause } from '../../core/units/retry.js'
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { createCgroupLocator } from '../../stats/cgroup/locator.js'
import { createRuntimeCalls } from '../../stats/runtime/calls.js'
import { createInventoryCache } from '../../stats/runtime/inventory.js'
import { createDetailsCache } from './container-details.js'
import { createCriValues } from './cri-values.js'
import { createLiveNodeReader } from './read-node.js'
import { createPodReader, type Focus, manyPods } from './read-pods.js'
import { readTree } from './read-tree.js'
import { noSpecs, type SpecRequests } from './spec-requests.js'

/** What other parts of the process add. One that is missing says why. */
export interface LiveParts {
  readonly driver: () => Part<LiveDriver>
  readonly config: () => Part<readonly LiveSetting[]>
  readonly sources: () => Part<LiveSources>
  /** Undefined: this process is not a kubelet. */
  readonly cluster?: () => Part<LiveCluster>
  readonly rpcs: () => Part<readonly LiveRpc[]>
  readonly warnings: () => Part<readonly LiveWarning[]>
  /** What Memory QoS wants written; undefined: no Memory QoS in this process. */
  readonly plan?: () => LiveReport | undefined
  readonly requests?: SpecRequests
}

export interface LiveOptions {
  readonly process: string
  readonly version: string
  readonly nodeName: string
  readonly client: CriClient
  /** Undefined: no cgroups here. */
  readonly cgroups: CgroupTree | undefined
  readonly procfs: Procfs
  readonly clock: Clock
  readonly parts: LiveParts
  /** Default 1,000. */
  readonly periodMs?: number
  /** Age at which the list of pods is asked for again. Default 2,000. */
  readonly listMs?: number
  readonly podRoots?: readonly CgroupPath[]
  /** Whether the cgroup tree is wanted in the next reading. Default: always. */
  readonly wantsTree?: () => boolean
  /** Undefined: everything is read in full each time. */
  readonly focus?: () => Focus | undefined
}

export type LiveSample = Pick<LiveSnapshot, 'time' | 'node' | 'pods'>

export interface LiveReader {
  readonly periodMs: number
  /** One reading. Rates are since the reading before. */
  take(signal: AbortSignal): Promise<LiveSnapshot>
  /** The node and its pods alone, without what other parts of the process would have to find out. */
  sample(signal: AbortSignal): Promise<LiveSample>
  /** Log file of a container by its id; undefined: not known. */
  logPath(containerId: string): string | undefined
}

/** A reading waits this long for the runtime and then goes on with what it knows. */
const patienceMs = 400
/** With many pods the tree is at most this old. */
const treeNanos = 10_000_000_000n

export function createLiveReader(o: LiveOptions): LiveReader {
  const { clock, client, cgroups, procfs, parts } = o
  const periodMs = o.periodMs ?? 1_000
  const nowNanos = (): bigint => clock.nowNanos()
  const calls = createRuntimeCalls({ client, listTimeoutMs: 5_000, statsTimeoutMs: 20_000, streaming: false })
  let problem: string | undefined
  const inventory = createInventoryCache({
    calls,
    clock,
    periodMs: (o.listMs ?? 2_000) * 2,
    // Fail at once with the reason: a wait would end as a deadline, which explains nothing.
    waitsForFirst: false,
    onFailure(e) {
      problem = asKeelsonError(e).message
    },
  })
  const details = createDetailsCache(client)
  const cri = createCriValues(calls, clock)
  const locator =
    cgroups === undefined
      ? undefined
      : createCgroupLocator({ cgroups, podRoots: o.podRoots ?? ['/kubepods', '/kubepods.slice'] })
  const node = createLiveNodeReader({ name: o.nodeName, cgroupVersion: cgroups?.version, procfs })
  const pods = createPodReader({
    cgroups,
    locator,
    procfs,
    nowNanos,
    memoryCapacity: procfs.memInfo().get('MemTotal') ?? 0n,
    details: (id) => details.get(id),
    cri,
    requests: parts.requests ?? noSpecs,
    ...(o.focus === undefined ? {} : { focus: o.focus }),
  })
  let underWay: Promise<void> | undefined
  let thresholds: ReadonlyMap<string, string> = new Map()
  let needsCri = false

  /** Everything that waits for the runtime, so that a reading does not have to. */
  async function askRuntime(signal: AbortSignal): Promise<void> {
    const before = inventory.current().timeNanos
    await inventory.refresh(signal)
    if (inventory.current().timeNanos !== before) problem = undefined
    if (problem !== undefined) return
    if (needsCri) await cri.refresh(signal)
    await details.refresh(thresholds, signal)
  }

  async function withPatience(signal: AbortSignal): Promise<void> {
    underWay ??= askRuntime(signal)
      .catch(() => undefined)
      .finally(() => {
        underWay = undefined
      })
    const enough = new AbortController()
    const timer = pause(clock, patienceMs, enough.signal, signal)
    await Promise.race([underWay, timer])
    enough.abort()
  }

  function runtimeState(): LiveRuntime {
    const { timeNanos } = inventory.current()
    const isListed = timeNanos > 0n
    return {
      endpoint: client.endpoint,
      state: problem !== undefined ? 'away' : isListed ? 'ready' : 'starting',
      problem: problem ?? cri.problem ?? null,
      listAgeSeconds:
        problem === undefined || !isListed
          ? null
          : Math.round(Number((nowNanos() - timeNanos) / 1_000_000n) / 1000),
    }
  }

  let tree: { readonly timeNanos: bigint; readonly value: ReturnType<typeof readTree> } | undefined
  /** Thousands of files for hundreds of pods, which change when a pod does. */
  function treeOf(podsNow: LiveSample['pods']): ReturnType<typeof readTree> {
    const timeNanos = nowNanos()
    const isKept = podsNow.length > manyPods && tree !== undefined && timeNanos - tree.timeNanos < treeNanos
    if (tree === undefined || !isKept)
      tree = { timeNanos, value: readTree(cgroups, podsNow, parts.plan?.(), timeNanos) }
    return tree.value
  }

  async function sample(signal: AbortSignal): Promise<LiveSample> {
    await withPatience(signal)
    signal.throwIfAborted()
    const reading = await pods.read(inventory.current())
    thresholds = reading.thresholds
    needsCri = reading.needsCri
    const time = new Date(Number(nowNanos() / 1_000_000n)).toISOString()
    return { time, node: node(), pods: reading.pods }
  }

  return {
    periodMs,
    logPath: (id) => details.get(id)?.logPath,
    sample,
    async take(signal) {
      const { time, node: nodeNow, pods: podsNow } = await sample(signal)
      return {
        time,
        server: { process: o.process, version: o.version, periodMs },
        node: nodeNow,
        runtime: runtimeState(),
        pods: podsNow,
        cgroups: o.wantsTree?.() === false ? { absent: 'not requested' } : treeOf(podsNow),
        driver: parts.driver(),
        config: parts.config(),
        sources: parts.sources(),
        cluster: parts.cluster?.() ?? { absent: 'only the kubelet is a member of a cluster' },
        rpcs: parts.rpcs(),
        warnings: parts.warnings(),
      }
    },
  }
}
