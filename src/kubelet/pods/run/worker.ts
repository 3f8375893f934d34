// One pod's worker: looks, decides, acts, and sleeps until something happens. The only one that acts on its pod. It holds one
// state (decide/pod-state.ts), turns what happens into events (decide/pod-step.ts) and carries out their effects.
import { rethrowBug } from '../../../core/errors.js'
import { apiPodDocument, type PodJson, podDocument } from '../../../core/pod/document.js'
import { isStaticPod } from '../../../core/pod/pod.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodStatus } from '../../../core/pod/status-json.js'
import type { PullBackoff } from '../../images/decide/image-pull.js'
import type { PodHealth } from '../../probes/decide/health.js'
import type { PodContext } from '../context.js'
import type { PodAction } from '../decide/actions.js'
import type { ObservedPod } from '../decide/observed.js'
import type { PodEffect, PodEvent } from '../decide/pod-event.js'
import {
  createPodState,
  heldSpec,
  isFinished,
  type PodState,
  podName,
  startedAtNanos,
  type VerdictCondition,
} from '../decide/pod-state.js'
import { stepPod } from '../decide/pod-step.js'
import { configHash } from '../decide/static-pod.js'
import { reportedStatus } from '../decide/status/reported-status.js'
import type { Rejection, WantedPod } from '../decide/wanted-pod.js'
import type { StaticPodNow } from '../mirror/decide/mirror-actions.js'
import { isRuntimeUnreachable } from '../view/runtime-unreachable.js'
import { act } from './execute.js'
import { Wake } from './wake.js'

export interface WorkerHooks {
  /** False while another pod of the same name is still terminating. */
  nameIsFree(): boolean
  /** Why the pod must not be touched: another kubelet runs it, or one of its name; undefined: it is ours alone. */
  heldByOther(): string | undefined
  /** Nothing of the pod is left. */
  onGone(): void
  /** A turn has ended; true: with actions. */
  onTurn(seconds: number, acted: boolean): void
  /** The status says something else than before, or the pod has finished. */
  onStatus(): void
}

/** What the API server is to know of a pod. */
export interface PodReport {
  readonly status: PodStatus
  /** Something of the pod may still run: that it is over is not reported yet. */
  readonly mayRun: boolean
  /** Nothing is left of it but its status: its object may be removed. */
  readonly finished: boolean
}

/** How the kubelet ends a pod that its source still wants. */
export interface KillRequest {
  readonly reason: string
  readonly message: string
  /** Not given: the pod's own. */
  readonly graceSeconds?: number
  readonly conditions?: readonly VerdictCondition[]
  /** When the kill counts as done: nothing of the pod runs (default), or its volumes and cgroup are gone as well. */
  readonly until?: 'stopped' | 'released'
}

/** Older than any relist that still works, with events or without. */
const recentNanos = 90_000_000_000n
/** Ids and states do not show that a container was given other resources: every so many turns the pod is read in full. */
const fullLookEvery = 10

export class PodWorker {
  private state: PodState
  private readonly wake: Wake
  private readonly pulls = new AbortController()
  /** Of the actions under way: aborted when they take longer than the pod may. */
  private hurry = new AbortController()
  private readonly killWaiters = new Set<{ readonly until: 'stopped' | 'released'; resolve(): void }>()
  private pod: WantedPod | undefined

  constructor(
    readonly uid: string,
    private readonly context: PodContext,
    private readonly syncNanos: bigint,
    private readonly hooks: WorkerHooks,
    /** Of an earlier life of the same pod: its restarts are counted on. */
    attempts: ReadonlyMap<string, number> = new Map(),
  ) {
    const { view, clock } = context
    this.state = { ...createPodState(uid, view.get(uid), clock.nowNanos()), attempts }
    this.wake = new Wake(clock)
  }

  get name(): string {
    return podName(this.state)
  }

  get isTerminating(): boolean {
    return this.state.life.phase !== 'active'
  }

  /** Which file the pod came from; empty when that is not known. */
  get file(): string {
    return this.state.manifest
  }

  get hasSandbox(): boolean {
    return this.state.observed.sandboxes.length > 0
  }

  get isHeldByOther(): boolean {
    return this.state.heldByOther !== undefined
  }

  get wantedSpec(): PodSpec | undefined {
    return this.isTerminating ? undefined : this.state.spec
  }

  get heldSpec(): PodSpec | undefined {
    return heldSpec(this.state)
  }

  /** Nothing of it runs, and nothing of it will be started again. */
  get isOver(): boolean {
    return this.state.life.phase === 'terminating' && isFinished(this.state)
  }

  get isWanted(): boolean {
    return this.state.wanted
  }

  /** A probe of it has another result than before. */
  probed(): void {
    this.dispatch({ kind: 'probed', health: this.context.prober.health(this.uid) })
  }

  /** The API server has it, or had it. */
  get isFromApi(): boolean {
    return this.state.api !== undefined
  }

  /** The same pod, perhaps with other fields. A pod that has begun to terminate stays so. */
  want(pod: WantedPod): void {
    if (pod === this.pod) return
    this.pod = pod
    this.dispatch({ kind: 'wanted', spec: pod.spec, manifest: pod.file, api: pod.api })
    if (pod.spec !== undefined) this.context.volumes.update(pod.spec)
  }

  /** Not admitted: nothing of it is started. */
  reject({ reason, message }: Rejection): void {
    this.dispatch({ kind: 'killed', verdict: { reason, message, conditions: [], rejected: true } })
  }

  /** Resolves when the pod is as far as `until` says. */
  kill({ reason, message, graceSeconds, conditions = [], until = 'stopped' }: KillRequest): Promise<void> {
    this.dispatch({
      kind: 'killed',
      verdict: { reason, message, conditions, rejected: false },
      graceSeconds,
    })
    return new Promise((resolve) => {
      this.killWaiters.add({ until, resolve })
      this.tellKilled()
    })
  }

  /** Its manifest was removed since the pod was last wanted, and is there again: first it has to end. */
  wasRemoved({ recreated = 0 }: WantedPod): boolean {
    return this.pod !== undefined && (this.pod.recreated ?? 0) !== recreated
  }

  /** The highest attempt of each container so far. */
  get attempts(): ReadonlyMap<string, number> {
    return this.state.attempts
  }

  /** No source has it any more. */
  unwant(): void {
    this.pod = undefined
    this.dispatch({ kind: 'unwanted' })
  }

  /** Undefined: there is nothing to tell yet. */
  report(): PodReport | undefined {
    const { status, stopped } = this.state
    return status && { status, mayRun: !stopped, finished: isFinished(this.state) }
  }

  /** Undefined: not a pod of a manifest. */
  staticPod(): StaticPodNow | undefined {
    const { spec } = this.state
    if (spec === undefined || !isStaticPod(spec.pod)) return undefined
    const { uid, namespace, name, annotations } = spec.pod
    return { uid, namespace, name, hash: annotations.get(configHash) ?? uid, terminating: this.isTerminating }
  }

  notify(): void {
    this.wake.notify()
  }

  /** Undefined for a pod that is only being cleaned up. */
  document(): PodJson | undefined {
    const { spec, api, status, life } = this.state
    if (status !== undefined && api !== undefined) return apiPodDocument(api, spec, status)
    if (spec === undefined || status === undefined) return undefined
    return podDocument(spec, status, {
      nodeName: this.context.nodeName,
      createdAtNanos: startedAtNanos(this.state),
      endingSinceNanos: life.phase === 'terminating' ? life.sinceWallNanos : undefined,
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.context
    const pullSignal = AbortSignal.any([signal, this.pulls.signal])
    while (!signal.aborted && !this.isGone) {
      const began = clock.monotonicNanos()
      const acted = await this.turn(signal, pullSignal)
      this.hooks.onTurn(Number(clock.monotonicNanos() - began) / 1e9, acted)
      if (acted || this.isGone) continue
      if (await this.wake.sleep(this.state.nextTurnNanos, signal)) this.dispatch({ kind: 'woken' })
    }
  }

  private get isGone(): boolean {
    return this.state.life.phase === 'gone'
  }

  /** True: something was done, so the next turn follows at once. */
  private async turn(signal: AbortSignal, pullSignal: AbortSignal): Promise<boolean> {
    this.hurry = new AbortController()
    try {
      const observed = await this.look(signal)
      this.dispatch({ kind: 'observed', observed, health: this.probe(observed) })
      const actions = this.dispatch({
        kind: 'turn',
        heldByOther: this.hooks.heldByOther(),
        nameIsFree: this.hooks.nameIsFree(),
        resourcesDiffer: this.resourcesDiffer(),
      })
      if (actions.length === 0) return false
      const acting = AbortSignal.any([signal, this.hurry.signal])
      for (const action of actions) await this.carryOut(action, acting, pullSignal)
      this.dispatch({ kind: 'synced' })
      return true
    } catch (e) {
      if (signal.aborted) return false
      if (this.hurry.signal.aborted) return true
      const error = rethrowBug(e)
      this.dispatch({ kind: 'failed', error, runtimeUnreachable: isRuntimeUnreachable(error) })
      return false
    }
  }

  private probe(observed: ObservedPod): PodHealth {
    const { spec, api } = this.state
    const { prober } = this.context
    return spec === undefined
      ? prober.health(this.uid)
      : prober.look({ spec, observed, before: reportedStatus(api) })
  }

  /** A pod at rest is not asked for when a look at the whole node has just shown that nothing of it changed. */
  private async look(signal: AbortSignal): Promise<ObservedPod> {
    const { view } = this.context
    const recent =
      this.state.quietTurns % fullLookEvery === 0 ? undefined : view.recent(this.uid, recentNanos)
    return recent ?? (await view.refresh(this.uid, signal))
  }

  private resourcesDiffer(): boolean {
    const { observed } = this.state
    const spec = this.wantedSpec
    return spec !== undefined && this.context.planner.differing(spec, observed).ids.length > 0
  }

  private async carryOut(action: PodAction, signal: AbortSignal, pullSignal: AbortSignal): Promise<void> {
    this.dispatch({ kind: 'acting', action })
    const input = {
      ...this.state,
      pullSignal,
      onPulled: (image: string, backoff: PullBackoff | undefined) => {
        this.dispatch({ kind: 'pulled', image, backoff })
      },
    }
    const hold = await act(action, input, this.context, signal)
    this.dispatch({ kind: 'acted', action, hold })
  }

  /** The next state, and every effect but the actions of a turn, which take time and are returned. */
  private dispatch(event: PodEvent): readonly PodAction[] {
    const { clock } = this.context
    const at = { monotonicNanos: clock.monotonicNanos(), wallNanos: clock.nowNanos() }
    const { syncNanos } = this
    const { hostIPs, runtimeName, maxBackoffNanos, prober } = this.context
    const { state, effects } = stepPod(this.state, event, at, {
      syncNanos,
      hostIPs,
      runtimeName,
      maxBackoffNanos,
    })
    const before = this.state
    this.state = state
    if (before.life.phase === 'active' && state.life.phase !== 'active') prober.onlyReadiness(this.uid)
    if (
      before.status !== state.status ||
      before.stopped !== state.stopped ||
      before.released !== state.released
    )
      this.hooks.onStatus()
    this.tellKilled()
    return effects.flatMap((effect) => this.carryOutNow(effect) ?? [])
  }

  private tellKilled(): void {
    const { stopped } = this.state
    for (const waiter of this.killWaiters) {
      const isDone = this.isGone || (waiter.until === 'stopped' ? stopped : isFinished(this.state))
      if (!isDone) continue
      this.killWaiters.delete(waiter)
      waiter.resolve()
    }
  }

  private carryOutNow(effect: PodEffect): PodAction | undefined {
    switch (effect.kind) {
      case 'act':
        return effect.action
      case 'log':
        this.context.log[effect.level](effect.message, effect.fields)
        return undefined
      case 'event':
        this.context.events.pod(this.state.spec?.pod ?? this.state.observed, effect.event)
        return undefined
      case 'wake':
        this.wake.notify()
        return undefined
      case 'cancel-pulls':
        this.pulls.abort(new Error('the pod terminates'))
        return undefined
      case 'hurry':
        this.hurry.abort(new Error('the grace period of the pod was shortened'))
        return undefined
      case 'gone':
        this.context.prober.remove(this.uid)
        this.hooks.onGone()
        return undefined
    }
  }
}
