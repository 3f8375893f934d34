// Which pods and containers there are to report on, from the runtime's two lists, and a cache of them. Names come from the
// labels that a kubelet puts on everything it creates, so no API server is needed.
import { type Container, ContainerState, type PodSandbox, PodSandboxState } from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { RuntimeCalls } from './calls.js'

export interface PodRef {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

export interface ContainerInfo {
  readonly id: string
  readonly name: string
  readonly image: string
  readonly createdAtNanos: bigint
}

export interface PodInfo {
  readonly sandboxId: string
  readonly ref: PodRef
  readonly createdAtNanos: bigint
  readonly runtimeHandler: string
  /** As far as the runtime's lists tell: a container runs; none has started yet; all of them have ended. */
  readonly phase: 'Running' | 'Pending' | 'Ended'
  /** Of all containers since the pod was created. */
  readonly restarts: number
  /** Running ones only, one for each name. */
  readonly containers: readonly ContainerInfo[]
}

export interface Inventory {
  readonly timeNanos: bigint
  /** Sorted by namespace, name and uid. */
  readonly pods: readonly PodInfo[]
}

const refOf = ({ labels, metadata }: PodSandbox): PodRef => ({
  name: labels['io.kubernetes.pod.name'] ?? metadata?.name ?? '',
  namespace: labels['io.kubernetes.pod.namespace'] ?? metadata?.namespace ?? '',
  uid: labels['io.kubernetes.pod.uid'] ?? metadata?.uid ?? '',
})

const containerInfo = (c: Container): ContainerInfo => ({
  id: c.id,
  name: c.labels['io.kubernetes.container.name'] ?? c.metadata?.name ?? '',
  image: c.image?.userSpecifiedImage || c.image?.image || c.imageRef,
  createdAtNanos: c.createdAt,
})

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups.values()]
}

const newest = <T extends { readonly createdAt: bigint }>(items: readonly T[]): T[] =>
  items.toSorted((a, b) => (a.createdAt > b.createdAt ? -1 : 1)).slice(0, 1)

/** Of several sandboxes of one pod the ready ones count; without any, the newest. The uid is left out on purpose. */
function currentSandboxes(sandboxes: readonly PodSandbox[]): PodSandbox[] {
  return groupBy(sandboxes, (s) => `${refOf(s).namespace}/${refOf(s).name}`).flatMap((group) => {
    if (group.length === 1) return group
    const ready = group.filter((s) => s.state === PodSandboxState.SANDBOX_READY)
    return ready.length > 0 ? ready : newest(group)
  })
}

/**
 * Of two running instances of one name, as during a restart, the newer one counts. The oldest comes first: kubelets create
 * containers in the order of the spec, which CRI does not give, and runtimes list them in any.
 */
const currentContainers = (containers: readonly Container[]): ContainerInfo[] =>
  groupBy(containers, (c) => containerInfo(c).name)
    .flatMap(newest)
    .map(containerInfo)
    .sort((a, b) => (a.createdAtNanos < b.createdAtNanos ? -1 : a.createdAtNanos > b.createdAtNanos ? 1 : 0))

/** The runtime keeps only the last instances; their number goes on. */
const restartsOf = (containers: readonly Container[]): number =>
  groupBy(containers, (c) => containerInfo(c).name).reduce(
    (sum, group) => sum + Math.max(...group.map((c) => c.metadata?.attempt ?? 0)),
    0,
  )

const phaseOf = (containers: readonly Container[]): PodInfo['phase'] =>
  containers.some((c) => c.state === ContainerState.CONTAINER_RUNNING)
    ? 'Running'
    : containers.some((c) => c.state === ContainerState.CONTAINER_EXITED)
      ? 'Ended'
      : 'Pending'

const comparePods = (a: PodRef, b: PodRef): number => {
  const [x, y] = [`${a.namespace}\0${a.name}\0${a.uid}`, `${b.namespace}\0${b.name}\0${b.uid}`]
  return x < y ? -1 : x > y ? 1 : 0
}

export function buildInventory(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
  timeNanos: bigint,
): Inventory {
  const bySandbox = new Map(
    groupBy(containers, (c) => c.podSandboxId).map((g) => [g[0]?.podSandboxId ?? '', g]),
  )
  const pods = currentSandboxes(sandboxes).map((sandbox): PodInfo => {
    const all = bySandbox.get(sandbox.id) ?? []
    return {
      sandboxId: sandbox.id,
      ref: refOf(sandbox),
      createdAtNanos: sandbox.createdAt,
      runtimeHandler: sandbox.runtimeHandler,
      phase: phaseOf(all),
      restarts: restartsOf(all),
      containers: currentContainers(all.filter((c) => c.state === ContainerState.CONTAINER_RUNNING)),
    }
  })
  return { timeNanos, pods: pods.sort((a, b) => comparePods(a.ref, b.ref)) }
}

/** A runtime that does not answer leaves the last list in place: running pods are never forgotten because a call was slow. */
export interface InventoryCache {
  /** The newest list, at most half a period old where the runtime answers. */
  refresh(signal: AbortSignal): Promise<Inventory>
  current(): Inventory
}

interface InventoryCacheOptions {
  readonly calls: Pick<RuntimeCalls, 'sandboxes' | 'containers'>
  readonly clock: Clock
  readonly periodMs: number
  readonly onFailure: (error: unknown) => void
  /** False: the first call fails at once where the runtime is unreachable. Default true: it waits until its deadline. */
  readonly waitsForFirst?: boolean
}

export function createInventoryCache(o: InventoryCacheOptions): InventoryCache {
  let current: Inventory = { timeNanos: 0n, pods: [] }
  let listedAt: bigint | undefined
  let inProgress: Promise<void> | undefined

  async function list(signal: AbortSignal): Promise<void> {
    try {
      // Only the first list is worth waiting for; later the last one serves.
      const waits = listedAt === undefined && o.waitsForFirst !== false
      const [sandboxes, containers] = await Promise.all([
        o.calls.sandboxes(signal, waits),
        o.calls.containers(signal, waits),
      ])
      current = buildInventory(sandboxes, containers, o.clock.nowNanos())
      listedAt = o.clock.monotonicNanos()
    } catch (e) {
      signal.throwIfAborted()
      o.onFailure(e)
    }
  }

  const isFresh = (): boolean =>
    listedAt !== undefined &&
    o.clock.monotonicNanos() - listedAt < BigInt(Math.round(o.periodMs / 2)) * 1_000_000n

  return {
    current: () => current,
    async refresh(signal) {
      if (!isFresh()) {
        inProgress ??= list(signal).finally(() => {
          inProgress = undefined
        })
        await inProgress
      }
      return current
    },
  }
}
