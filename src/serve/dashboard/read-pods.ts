// Pods and containers of the runtime's list with their values: from cgroups where they can be read, else from what the
// runtime says.

import type {
  LiveContainer,
  LiveNext,
  LivePod,
  LiveRequest,
  LiveSource,
  LiveValues,
} from '../../core/dashboard/model.js'
import { inTurns } from '../../core/units/turns.js'
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CgroupLocator } from '../../stats/cgroup/locator.js'
import { networkValues } from '../../stats/collectors/network.js'
import type { ContainerInfo, Inventory, PodInfo } from '../../stats/runtime/inventory.js'
import type { ContainerDetails } from './container-details.js'
import type { CriValues } from './cri-values.js'
import { liveValues, noValues, perSecond, type Reading } from './dashboard-values.js'
import { deriveRequest } from './decide/derive-request.js'
import { decideMemoryForecast, unknownForecast } from './decide/memory-forecast.js'
import { allParts, type RawValues, readRawValues, type Threshold, type ValuePart } from './raw-values.js'
import type { SpecRequests } from './spec-requests.js'

interface PodReaderOptions {
  /** Undefined: no cgroups here, so only the runtime is asked. */
  readonly cgroups: CgroupTree | undefined
  readonly locator: CgroupLocator | undefined
  readonly procfs: Pick<Procfs, 'netDev' | 'networkNamespace'>
  readonly nowNanos: () => bigint
  readonly memoryCapacity: bigint
  readonly details: (containerId: string) => ContainerDetails | undefined
  /** From the runtime, for pods without a readable cgroup. */
  readonly cri: CriValues
  readonly requests: SpecRequests
  readonly focus?: () => Focus | undefined
}

/** Where hundreds of pods are, only what is looked at is read in full each time. */
export interface Focus {
  isFull(sandboxId: string): boolean
  /** Read of every pod each time, as what they are sorted by. */
  readonly parts: ReadonlySet<ValuePart>
}

interface PodReading {
  readonly pods: readonly LivePod[]
  /** Container -> its thresholds as text: details are asked again when they change. */
  readonly thresholds: ReadonlyMap<string, string>
  /** Whether the runtime's values are wanted next time. */
  readonly needsCri: boolean
}

interface PodReader {
  read(inventory: Inventory): Promise<PodReading>
}

interface NetworkReading {
  readonly timeNanos: bigint
  readonly rx: bigint
  readonly tx: bigint
  readonly shown: LivePod['network']
}

/** Pods out of sight are read in full once in so many readings. */
const aRound = 16

/** Between two turns of the event loop: 500 pods take 200 ms while others start. */
const podsATurn = 16

/** With more pods than this, pressure, disk, network and limits of each are read once in a round. */
export const manyPods = 200
const movingParts: Focus = { isFull: () => false, parts: new Set<ValuePart>(['memory', 'cpu']) }

const finite = (threshold: Threshold): bigint | undefined => (threshold === 'max' ? undefined : threshold)

/** `/kubepods.slice/kubepods-burstable.slice/...` -> Burstable. Undefined: not below a kubelet's tree. */
function qosClassOfPath(path: CgroupPath): string | undefined {
  if (/besteffort/.test(path)) return 'BestEffort'
  if (/burstable/.test(path)) return 'Burstable'
  return /kubepods/.test(path) ? 'Guaranteed' : undefined
}

const worst = (nexts: readonly LiveNext[]): LiveNext | undefined =>
  (['act', 'watch'] as const)
    .map((level) => nexts.find((n) => n.level === level))
    .find((n) => n !== undefined)

function nextOf(raw: RawValues | undefined, values: LiveValues): LiveNext {
  if (raw?.memory === undefined) return unknownForecast
  return decideMemoryForecast({
    usage: raw.memory.usage,
    min: finite(raw.memory.min),
    low: finite(raw.memory.low),
    high: finite(raw.memory.high),
    max: finite(raw.memory.max),
    throttlesPerSecond: values.memory?.throttlesPerSecond ?? undefined,
  })
}

export function createPodReader(o: PodReaderOptions): PodReader {
  let before = new Map<string, Reading>()
  let turn = 0
  let networkBefore = new Map<string, NetworkReading>()
  const hostNetwork = o.procfs.networkNamespace()

  return {
    async read(inventory) {
      o.locator?.refresh(inventory)
      const now = new Map<string, Reading>()
      const focus = o.focus?.() ?? (inventory.pods.length > manyPods ? movingParts : undefined)
      const round = turn++ % aRound
      const networkNow: typeof networkBefore = new Map()
      const thresholds = new Map<string, string>()
      let needsCri = false

      const partsOf = (pod: PodInfo, i: number): ReadonlySet<ValuePart> =>
        focus === undefined || focus.isFull(pod.sandboxId) || i % aRound === round ? allParts : focus.parts
      const valuesAt = (
        key: string,
        path: CgroupPath | undefined,
        parts: ReadonlySet<ValuePart>,
      ): Partial<Reading> => {
        const last = before.get(key)
        const raw =
          path === undefined || o.cgroups === undefined
            ? undefined
            : readRawValues(o.cgroups, path, o.nowNanos(), last?.raw, parts)
        if (raw === undefined) return {}
        const reading = { raw, values: liveValues(raw, last) }
        now.set(key, reading)
        return reading
      }
      const network = (pod: PodInfo, pid: number | undefined): LivePod['network'] => {
        if (pid === undefined) return null
        const namespace = o.procfs.networkNamespace(pid)
        if (namespace === undefined || namespace === hostNetwork) return null
        const main = networkValues(o.procfs.netDev(pid) ?? []).defaultInterface
        if (main === undefined) return null
        const reading = { timeNanos: o.nowNanos(), rx: main.rxBytes, tx: main.txBytes }
        const last = networkBefore.get(pod.sandboxId)
        const elapsed = last === undefined ? 0n : reading.timeNanos - last.timeNanos
        const rx = perSecond(last?.rx, reading.rx, elapsed)
        const tx = perSecond(last?.tx, reading.tx, elapsed)
        const shown =
          rx === undefined || tx === undefined
            ? null
            : { rxPerSecond: Math.round(rx), txPerSecond: Math.round(tx) }
        networkNow.set(pod.sandboxId, { ...reading, shown })
        return shown
      }

      const keptNetwork = (pod: PodInfo): LivePod['network'] => {
        const last = networkBefore.get(pod.sandboxId)
        if (last !== undefined) networkNow.set(pod.sandboxId, last)
        return last?.shown ?? null
      }

      const containerOf = (
        pod: PodInfo,
        info: ContainerInfo,
        parts: ReadonlySet<ValuePart>,
      ): LiveContainer => {
        const path = o.locator?.container(info.id)
        const { raw, values } = valuesAt(info.id, path, parts)
        if (raw === undefined) needsCri = true
        const shown = values ?? o.cri.container(info.id) ?? noValues
        const memory = raw?.memory
        thresholds.set(info.id, `${memory?.min} ${memory?.low} ${memory?.high} ${memory?.max}`)
        const details = o.details(info.id)
        return {
          id: info.id,
          name: info.name,
          image: details?.image ?? info.image,
          cgroup: path ?? null,
          values: shown,
          request:
            o.requests.container(pod.ref, info.name) ??
            liveRequest({
              cpuShares: details?.cpuShares,
              oomScoreAdj: details?.oomScoreAdj,
              memoryMin: finite(memory?.min),
              memoryLow: finite(memory?.low),
              memoryLimit: finite(memory?.max) ?? details?.memoryLimit,
              memoryCapacity: o.memoryCapacity,
            }),
          next: nextOf(raw, shown),
        }
      }

      const podOf = (info: PodInfo, i: number): LivePod => {
        const parts = partsOf(info, i)
        const at = o.locator?.pod(info)
        const containers = info.containers.map((c) => containerOf(info, c, parts))
        const { raw, values } = valuesAt(info.sandboxId, at?.pod, parts)
        const fromCri = values === undefined ? o.cri.pod(info.sandboxId) : undefined
        const source: LiveSource = values !== undefined ? 'cgroup' : fromCri !== undefined ? 'cri' : 'none'
        const own = values ?? fromCri?.values ?? noValues
        const path = at?.pod ?? at?.sandbox
        const inside = containers.map((c) => ({
          ...c.next,
          text: containers.length > 1 ? `${c.name}: ${c.next.text}` : c.next.text,
        }))
        return {
          id: info.sandboxId,
          namespace: info.ref.namespace,
          name: info.ref.name,
          uid: info.ref.uid,
          createdAt: new Date(Number(info.createdAtNanos / 1_000_000n)).toISOString(),
          phase: info.phase,
          restarts: info.restarts,
          qosClass: path === undefined ? null : (qosClassOfPath(path) ?? null),
          cgroup: at?.pod ?? null,
          source,
          values: own,
          request: sumRequests(containers.map((c) => c.request)),
          next: worst(inside) ?? worst([nextOf(raw, own)]) ?? inside[0] ?? nextOf(raw, own),
          network:
            (parts === allParts ? network(info, firstPid(o.cgroups, at?.sandbox)) : keptNetwork(info)) ??
            fromCri?.network ??
            null,
          containers,
        }
      }

      const pods: LivePod[] = []
      await inTurns(inventory.pods, podsATurn, (info) => pods.push(podOf(info, pods.length)))
      before = now
      networkBefore = networkNow
      return { pods, thresholds, needsCri }
    },
  }
}

function liveRequest(traces: Parameters<typeof deriveRequest>[0]): LiveRequest {
  const { cpuMilli, memory, from } = deriveRequest(traces)
  return { cpuMilli: cpuMilli ?? null, memory: memory?.toString() ?? null, from: from ?? null }
}

/** Known only as far as every container's is: a part of a sum would look like the whole. */
function sumRequests(requests: readonly LiveRequest[]): LiveRequest {
  const cpus = requests.map((r) => r.cpuMilli).filter((c) => c !== null)
  const memories = requests.map((r) => r.memory).filter((m) => m !== null)
  return {
    cpuMilli: cpus.length === 0 ? null : cpus.reduce((sum, c) => sum + c, 0),
    memory: memories.length === 0 ? null : memories.reduce((sum, m) => sum + BigInt(m), 0n).toString(),
    from: requests.find((r) => r.from !== null)?.from ?? null,
  }
}

function firstPid(cgroups: CgroupTree | undefined, path: CgroupPath | undefined): number | undefined {
  const text = path === undefined ? undefined : cgroups?.read(path, 'cgroup.procs')
  if (text === undefined) return undefined
  const end = text.indexOf(10)
  const pid = Number(new TextDecoder().decode(end < 0 ? text : text.subarray(0, end)))
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}
