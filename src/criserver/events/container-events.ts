// Container events of a runtime that has none, from its own lists. An event is sent only after ContainerStatus, or
// PodSandboxStatus for a sandbox, has confirmed what it tells, and carries these statuses.
import { isKeelsonError } from '../../core/errors.js'
import { pause } from '../../core/units/retry.js'
import {
  type Container,
  ContainerEventResponse,
  type ContainerStatus,
  type PodSandbox,
  type PodSandboxStatus,
} from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { CallOptions, CriClient } from '../../ports/runtime.js'
import { containerStage, eventsBetween, type Stage, sandboxStage } from './stages.js'
import { createSubscribers } from './subscribers.js'

export interface ContainerEvents {
  /** Encoded events of what happens from now on, until the signal. */
  subscribe(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** A call that changes containers has passed: the next look is now. */
  wake(): void
  /** Looks while there are subscribers. Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

interface EventsOptions {
  readonly client: CriClient
  readonly clock: Clock
  readonly log: Log
  readonly everyMs?: number
}

/** Without a call through us: a container that ended by itself, or another client. As often as a kubelet without events looks. */
const defaultEveryMs = 1_000
const callTimeoutMs = 5_000

/** What was told last of a container or sandbox. */
interface Told {
  readonly sandboxId: string
  stage: Stage | undefined
}

export function createContainerEvents(o: EventsOptions): ContainerEvents {
  const { clock, log } = o
  const { runtime, states } = o.client
  const subscribers = createSubscribers<Uint8Array>()
  const told = new Map<string, Told>()
  /** For events of a sandbox that has gone: clients need to know whose it was. */
  const lastStatus = new Map<string, PodSandboxStatus>()
  let isBaseline = true
  let newestNanos = 0n
  let looking: Promise<void> = Promise.resolve()
  let wakeUp: () => void = () => {}

  /** Undefined: the runtime does not have it. */
  async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (e) {
      if (isKeelsonError(e) && e.code === 'runtime.not-found') return undefined
      throw e
    }
  }
  const options = (signal: AbortSignal): CallOptions => ({ timeoutMs: callTimeoutMs, signal })
  const statusOf = async (containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined> =>
    (await unlessGone(runtime.containerStatus({ containerId }, options(signal))))?.status

  async function sandboxStatus(id: string, signal: AbortSignal): Promise<PodSandboxStatus | undefined> {
    const status = (await unlessGone(runtime.podSandboxStatus({ podSandboxId: id }, options(signal))))?.status
    if (status !== undefined) lastStatus.set(id, status)
    return status
  }

  /** The pod as CRI confirms it now. */
  interface ConfirmedPod {
    readonly sandbox: PodSandboxStatus | undefined
    readonly containers: readonly ContainerStatus[]
  }

  async function confirm(
    sandboxId: string,
    ids: Iterable<string>,
    signal: AbortSignal,
  ): Promise<ConfirmedPod> {
    const sandbox = await sandboxStatus(sandboxId, signal)
    const statuses = await Promise.all([...ids].map((id) => statusOf(id, signal)))
    return { sandbox, containers: statuses.filter((s) => s !== undefined) }
  }

  function send(id: string, sandboxId: string, pod: ConfirmedPod, now: Stage, wasStarted: boolean): void {
    const known = told.get(id) ?? { sandboxId, stage: undefined }
    for (const containerEventType of eventsBetween(known.stage, now, wasStarted)) {
      // Clients take the newest event of a pod for its state: no two have one time.
      const time = clock.nowNanos()
      newestNanos = time > newestNanos ? time : newestNanos + 1n
      subscribers.send(
        ContainerEventResponse.encode({
          containerId: id,
          containerEventType,
          createdAt: newestNanos,
          podSandboxStatus: pod.sandbox ?? lastStatus.get(sandboxId),
          containersStatuses: [...pod.containers],
        }).finish(),
      )
    }
    if (now === 'deleted') told.delete(id)
    else told.set(id, { sandboxId, stage: now })
  }

  /** A sandbox begins before its containers and ends after them. */
  function tellPod(sandboxId: string, pod: ConfirmedPod, ids: Iterable<string>): void {
    const sandboxNow: Stage = pod.sandbox === undefined ? 'deleted' : sandboxStage(pod.sandbox.state)
    if (sandboxNow === 'started') send(sandboxId, sandboxId, pod, sandboxNow, true)
    const byId = new Map(pod.containers.map((c) => [c.id, c]))
    for (const id of ids) {
      const status = byId.get(id)
      const now = status === undefined ? 'deleted' : containerStage(status.state)
      if (now === undefined || (now === 'deleted' && !told.has(id))) continue
      send(id, sandboxId, pod, now, status === undefined || status.startedAt > 0n)
    }
    if (sandboxNow !== 'started' && (sandboxNow !== 'deleted' || told.has(sandboxId)))
      send(sandboxId, sandboxId, pod, sandboxNow, true)
    if (sandboxNow === 'deleted') lastStatus.delete(sandboxId)
  }

  /** Sandboxes of which something is listed otherwise than it was told, with their containers. */
  function changedPods(
    sandboxes: readonly PodSandbox[],
    containers: readonly Container[],
  ): ReadonlyMap<string, ReadonlySet<string>> {
    const idsOf = new Map<string, Set<string>>()
    const changed = new Set<string>()
    const listed = new Set<string>()
    const see = (id: string, sandboxId: string, stage: Stage | undefined): void => {
      listed.add(id)
      if (stage !== undefined && told.get(id)?.stage !== stage) changed.add(sandboxId)
    }
    for (const s of sandboxes) see(s.id, s.id, sandboxStage(s.state))
    for (const c of containers) {
      idsOf.set(c.podSandboxId, (idsOf.get(c.podSandboxId) ?? new Set()).add(c.id))
      see(c.id, c.podSandboxId, containerStage(c.state))
    }
    for (const [id, { sandboxId }] of told) {
      if (listed.has(id)) continue
      changed.add(sandboxId)
      if (id !== sandboxId) idsOf.set(sandboxId, (idsOf.get(sandboxId) ?? new Set()).add(id))
    }
    return new Map([...changed].map((id) => [id, idsOf.get(id) ?? new Set<string>()]))
  }

  /** Ids and states are read for a tenth of what whole lists cost, and nearly always show that nothing has happened. */
  async function isAsTold(signal: AbortSignal): Promise<boolean> {
    const [sandboxes, containers] = await Promise.all([
      states.sandboxes(options(signal)),
      states.containers(options(signal)),
    ])
    const isTold = (id: string, stage: Stage | undefined): boolean =>
      stage === undefined ? told.has(id) : told.get(id)?.stage === stage
    return (
      told.size === sandboxes.size + containers.size &&
      [...sandboxes].every(([id, state]) => isTold(id, sandboxStage(state))) &&
      [...containers].every(([id, state]) => isTold(id, containerStage(state)))
    )
  }

  async function look(signal: AbortSignal): Promise<void> {
    if (!isBaseline && (await isAsTold(signal))) return
    const [{ items }, { containers }] = await Promise.all([
      runtime.listPodSandbox({}, options(signal)),
      runtime.listContainers({}, options(signal)),
    ])
    if (isBaseline) {
      // What is there already is not news.
      for (const s of items) told.set(s.id, { sandboxId: s.id, stage: sandboxStage(s.state) })
      for (const c of containers)
        told.set(c.id, { sandboxId: c.podSandboxId, stage: containerStage(c.state) })
      isBaseline = false
      return
    }
    for (const [sandboxId, ids] of changedPods(items, containers))
      tellPod(sandboxId, await confirm(sandboxId, ids, signal), ids)
  }

  /** One at a time, so that events keep their order. */
  function lookInTurn(signal: AbortSignal): Promise<void> {
    const mine = looking.then(() => look(signal))
    looking = mine.catch(() => undefined)
    return mine
  }

  function forget(): void {
    told.clear()
    lastStatus.clear()
    isBaseline = true
  }

  return {
    async subscribe(signal) {
      // The first one waits for the state from which events are told; for the others there is one.
      if (subscribers.count === 0) {
        forget()
        await lookInTurn(signal)
      }
      const events = subscribers.add(signal)
      wakeUp()
      return events
    },
    wake: () => wakeUp(),
    async run(signal) {
      while (!signal.aborted) {
        const early = new AbortController()
        wakeUp = () => early.abort()
        await pause(clock, o.everyMs ?? defaultEveryMs, signal, early.signal)
        if (signal.aborted || subscribers.count === 0) continue
        await lookInTurn(signal).catch((error: unknown) =>
          log.debug('failed to look for container events', { error }),
        )
      }
    },
  }
}
