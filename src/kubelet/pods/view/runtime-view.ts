// A cache of all pods in the runtime, kept as cheaply as it can be: ids and states show whether anything changed, two lists
// show what, and only that is read in detail. Others get snapshots.
import { asKeelsonError } from '../../../core/errors.js'
import { type Container, ContainerState, type PodSandbox, PodSandboxState } from '../../../cri-api/api.js'
import type { Clock } from '../../../ports/clock.js'
import type { CallOptions, RuntimeService, RuntimeStates } from '../../../ports/runtime.js'
import { nothingObserved, type ObservedPod } from '../decide/observed.js'
import { labels } from '../to-cri/names.js'
import { observePod, type SeenContainer, type SeenSandbox } from './observe-pods.js'

interface RuntimeViewOptions {
  readonly runtime: Pick<
    RuntimeService,
    'listPodSandbox' | 'listContainers' | 'podSandboxStatus' | 'containerStatus'
  >
  readonly states: RuntimeStates
  readonly clock: Pick<Clock, 'monotonicNanos'>
  readonly timeoutMs: number
  /** The termination message of a container that ended; empty: none. */
  readonly readMessage: (container: Container, failed: boolean, logPath: string) => Promise<string>
}

interface Listed {
  readonly sandboxes: readonly PodSandbox[]
  readonly containers: readonly Container[]
}

export class RuntimeView {
  private readonly prints = new Map<string, string>()
  private readonly pods = new Map<string, ObservedPod>()
  private readonly details = new Map<string, SeenContainer>()
  private readonly networks = new Map<string, SeenSandbox>()
  private annotationsOf = new Map<string, Readonly<Record<string, string>>>()
  /** Of the whole node at the last look at everything; undefined: look at everything. */
  private seen: ReadonlyMap<string, number> | undefined
  private seenNanos: bigint | undefined

  constructor(private readonly options: RuntimeViewOptions) {}

  get(uid: string): ObservedPod | undefined {
    return this.pods.get(uid)
  }

  /** The pod as the last look at the whole node left it; undefined when that look is older, or found nothing. */
  recent(uid: string, maxAgeNanos: bigint): ObservedPod | undefined {
    const { seenNanos } = this
    if (seenNanos === undefined || this.options.clock.monotonicNanos() - seenNanos > maxAgeNanos)
      return undefined
    return this.pods.get(uid)
  }

  uids(): readonly string[] {
    return [...this.pods.keys()]
  }

  all(): readonly ObservedPod[] {
    return [...this.pods.values()]
  }

  /** Of the pod's newest sandbox, which carries the pod's own. */
  annotations(uid: string): Readonly<Record<string, string>> {
    return this.annotationsOf.get(uid) ?? {}
  }

  /** The whole node; returns the pods whose lists have changed, those that have gone included. */
  async relist(signal: AbortSignal): Promise<readonly string[]> {
    const began = this.options.clock.monotonicNanos()
    if (this.seen !== undefined && isSame(this.seen, await this.states(signal))) {
      this.seenNanos = began
      return []
    }
    const all = await this.list({}, signal)
    const byUid = group(all)
    const changed: string[] = []
    for (const [uid, listed] of byUid) {
      const print = fingerprint(listed)
      if (this.prints.get(uid) === print) continue
      await this.look(uid, listed, signal)
      this.prints.set(uid, print)
      changed.push(uid)
    }
    for (const uid of [...this.pods.keys()])
      if (!byUid.has(uid)) {
        this.drop(uid)
        changed.push(uid)
      }
    this.seen = new Map([...all.sandboxes, ...all.containers].map(({ id, state }) => [id, state]))
    this.seenNanos = began
    return changed
  }

  /** One pod, as it is now. */
  async refresh(uid: string, signal: AbortSignal): Promise<ObservedPod> {
    const listed = await this.list({ [labels.podUid]: uid }, signal)
    if (listed.sandboxes.length === 0 && listed.containers.length === 0) {
      this.drop(uid)
      return nothingObserved(uid, '', '')
    }
    const pod = await this.look(uid, listed, signal)
    this.prints.set(uid, fingerprint(listed))
    return pod
  }

  private states(signal: AbortSignal): Promise<readonly ReadonlyMap<string, number>[]> {
    const options: CallOptions = { timeoutMs: this.options.timeoutMs, signal }
    const { states } = this.options
    return Promise.all([states.sandboxes(options), states.containers(options)])
  }

  private async list(labelSelector: Record<string, string>, signal: AbortSignal): Promise<Listed> {
    const { runtime, timeoutMs } = this.options
    const options: CallOptions = { timeoutMs, signal }
    const [{ items }, { containers }] = await Promise.all([
      runtime.listPodSandbox({ filter: { labelSelector } }, options),
      runtime.listContainers({ filter: { labelSelector } }, options),
    ])
    return { sandboxes: items, containers }
  }

  private async look(uid: string, listed: Listed, signal: AbortSignal): Promise<ObservedPod> {
    const sandboxes: SeenSandbox[] = []
    for (const sandbox of listed.sandboxes) sandboxes.push(await this.lookAtSandbox(sandbox, signal))
    const containers: SeenContainer[] = []
    for (const container of listed.containers) {
      const seen = await this.lookAtContainer(container, signal)
      if (seen !== undefined) containers.push(seen)
    }
    const pod = observePod(uid, sandboxes, containers)
    this.forgetDetails(this.pods.get(uid), pod)
    this.pods.set(uid, pod)
    const newest = listed.sandboxes.find((s) => s.id === pod.sandboxes[0]?.id)
    if (newest !== undefined) this.annotationsOf.set(uid, newest.annotations)
    return pod
  }

  /** Addresses of a ready sandbox never change, and one that is not ready has none that matter. */
  private async lookAtSandbox(listed: PodSandbox, signal: AbortSignal): Promise<SeenSandbox> {
    if (listed.state !== PodSandboxState.SANDBOX_READY) return { listed, status: undefined }
    const known = this.networks.get(listed.id)
    if (known?.status !== undefined) return { ...known, listed }
    const { runtime, timeoutMs } = this.options
    const answer = await orGone(runtime.podSandboxStatus({ podSandboxId: listed.id }, { timeoutMs, signal }))
    const seen = { listed, status: answer?.status }
    this.networks.set(listed.id, seen)
    return seen
  }

  private async lookAtContainer(listed: Container, signal: AbortSignal): Promise<SeenContainer | undefined> {
    const known = this.details.get(listed.id)
    // An end is final; a running container can be given other resources, so it is asked again.
    if (known?.listed.state === listed.state && listed.state === ContainerState.CONTAINER_EXITED) return known
    const { runtime, timeoutMs, readMessage } = this.options
    const answer = await orGone(runtime.containerStatus({ containerId: listed.id }, { timeoutMs, signal }))
    const status = answer?.status
    if (status === undefined) return undefined
    const isOver = status.state === ContainerState.CONTAINER_EXITED
    const message = isOver ? await readMessage(listed, status.exitCode !== 0, status.logPath) : ''
    const seen = { listed: { ...listed, state: status.state }, status, message }
    this.details.set(listed.id, seen)
    return seen
  }

  private drop(uid: string): void {
    this.forgetDetails(this.pods.get(uid), undefined)
    this.pods.delete(uid)
    this.prints.delete(uid)
    this.annotationsOf.delete(uid)
  }

  private forgetDetails(before: ObservedPod | undefined, now: ObservedPod | undefined): void {
    for (const { id } of before?.containers ?? [])
      if (now?.containers.some((c) => c.id === id) !== true) this.details.delete(id)
    for (const { id } of before?.sandboxes ?? [])
      if (now?.sandboxes.some((s) => s.id === id) !== true) this.networks.delete(id)
  }
}

function isSame(known: ReadonlyMap<string, number>, now: readonly ReadonlyMap<string, number>[]): boolean {
  let size = 0
  for (const states of now) {
    for (const [id, state] of states) if (known.get(id) !== state) return false
    size += states.size
  }
  return known.size === size
}

/** Removed between the list and the question is not an error. */
async function orGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (e) {
    if (asKeelsonError(e).code === 'runtime.not-found') return undefined
    throw e
  }
}

/** Only pods of a kubelet: whatever else the runtime runs is not ours to look at. */
function group({ sandboxes, containers }: Listed): Map<string, Listed> {
  const byUid = new Map<string, { sandboxes: PodSandbox[]; containers: Container[] }>()
  const at = (uid: string) => {
    const found = byUid.get(uid) ?? { sandboxes: [], containers: [] }
    byUid.set(uid, found)
    return found
  }
  for (const sandbox of sandboxes) {
    const uid = sandbox.labels[labels.podUid]
    if (uid !== undefined) at(uid).sandboxes.push(sandbox)
  }
  for (const container of containers) {
    const uid = container.labels[labels.podUid]
    if (uid !== undefined) at(uid).containers.push(container)
  }
  return byUid
}

const fingerprint = ({ sandboxes, containers }: Listed): string =>
  [...sandboxes, ...containers]
    .map(({ id, state }) => `${id} ${state}`)
    .sort()
    .join('\n')
