// One pod's worker: looks, decides, acts, and sleeps until something happens. The only one that acts on its pod, and the
// owner of what the runtime cannot remember: back-offs, holds, the status that was shown last.
import { asKeelsonError } from '../../../core/errors.js'
import { type PodJson, podDocument } from '../../../core/pod/document.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodStatus } from '../../../core/pod/status-json.js'
import type { PodContext } from '../context.js'
import { nothingObserved, type ObservedPod } from '../decide/observed.js'
import { type Backoff, nextBackoff } from '../decide/restart-backoff.js'
import { canonicalJson } from '../decide/static-pod.js'
import { podStatus } from '../decide/status.js'
import { decidePodTurn, type Hold, type PodAction, type PodTurn, type Waiting } from '../decide/turn.js'
import { isRuntimeAway } from '../view/runtime-unreachable.js'
import { act } from './execute.js'
import { Wake } from './wake.js'

export interface WorkerHooks {
  /** False while another pod of the same name has not gone yet. */
  mayStart(): boolean
  /** Why the pod must not be touched: another kubelet runs it, or one of its name; undefined: it is ours alone. */
  otherKubelet(): string | undefined
  /** Everything of the pod has gone. */
  onForgotten(): void
  /** A turn has ended; true: with actions. */
  onTurn(seconds: number, acted: boolean): void
}

const awayNanos = 1_000_000_000n

/** 1, 2, 4, 8 and then 10 seconds: most faults of a moment are over by the first. */
const retryNanos = (failures: number): bigint =>
  failures > 4 ? 10_000_000_000n : awayNanos << BigInt(failures - 1)

/** Older than any relist that still works, with events or without. */
const recentNanos = 90_000_000_000n
/** Ids and states do not tell that somebody else gave a container other resources: now and then all is asked anew. */
const fullLookEvery = 10

export class PodWorker {
  private spec: PodSpec | undefined
  private manifest = ''
  private ending: { readonly sinceNanos: bigint; readonly graceSeconds: number } | undefined
  /** By the wall clock, as it is shown. */
  private endingShownNanos: bigint | undefined
  /** Container id -> when it ended, by the monotonic clock: deadlines must not move when somebody sets the wall clock. */
  private readonly endedAt = new Map<string, bigint>()
  private readonly backoffs = new Map<string, Backoff>()
  private readonly pullBackoffs = new Map<string, Backoff>()
  private readonly holds = new Map<string, Hold>()
  private prepared = false
  private released = false
  private resizedFor = ''
  /** A smaller limit that waits for usage to fall. */
  private resizeHold: Hold | undefined
  private observed: ObservedPod
  private waiting: ReadonlyMap<string, Waiting> = new Map()
  private status: PodStatus | undefined
  private readonly seenAtNanos: bigint
  private readonly wake: Wake
  private readonly pulling = new AbortController()
  private pullSignal: AbortSignal | undefined
  private lastProblem = ''
  private heldByOther: string | undefined
  private failures = 0
  /** Turns in a row that found nothing to do and waited for nothing. */
  private restful = 0
  forgotten = false

  constructor(
    readonly uid: string,
    private readonly c: PodContext,
    private readonly syncNanos: bigint,
    private readonly hooks: WorkerHooks,
  ) {
    this.observed = c.view.get(uid) ?? nothingObserved(uid, '', '')
    this.seenAtNanos = c.clock.nowNanos()
    this.wake = new Wake(c.clock)
  }

  get name(): string {
    return this.spec === undefined
      ? `${this.observed.namespace}/${this.observed.name}`
      : `${this.spec.pod.namespace}/${this.spec.pod.name}`
  }

  get isEnding(): boolean {
    return this.ending !== undefined
  }

  /** Which file the pod came from; empty when that is not known. */
  get file(): string {
    return this.manifest
  }

  get hasSandbox(): boolean {
    return this.observed.sandboxes.length > 0
  }

  get isHeldByOther(): boolean {
    return this.heldByOther !== undefined
  }

  get wanted(): PodSpec | undefined {
    return this.ending === undefined ? this.spec : undefined
  }

  snapshot(): ObservedPod {
    return this.observed
  }

  /** The same pod, perhaps with other amounts. A pod that has begun to end ends. */
  want(spec: PodSpec, manifest: string): void {
    if (this.ending !== undefined) return
    // Seen again after a restart is not news: what was annotated first stays.
    this.spec = spec
    this.manifest = manifest
    this.wake.notify()
  }

  end(): void {
    if (this.ending !== undefined) return
    const graceSeconds = this.spec?.terminationGracePeriodSeconds ?? this.observed.graceSeconds ?? 30
    this.ending = { sinceNanos: this.c.clock.monotonicNanos(), graceSeconds }
    this.endingShownNanos = this.c.clock.nowNanos()
    this.pulling.abort(new Error('the pod is to end'))
    this.wake.notify()
  }

  notify(): void {
    this.wake.notify()
  }

  /** Undefined for a pod that is only being cleaned up. */
  document(): PodJson | undefined {
    if (this.spec === undefined) return undefined
    this.status = this.currentStatus(this.spec)
    return podDocument(this.spec, this.status, {
      nodeName: this.c.nodeName,
      createdAtNanos: this.startedAtNanos(),
      endingSinceNanos: this.endingShownNanos,
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    this.pullSignal = AbortSignal.any([signal, this.pulling.signal])
    while (!signal.aborted && !this.forgotten) {
      const began = this.c.clock.monotonicNanos()
      const next = await this.turn(signal)
      this.hooks.onTurn(Number(this.c.clock.monotonicNanos() - began) / 1e9, next === 'again')
      if (next === 'again' || this.forgotten) continue
      if (await this.wake.sleep(next, signal)) this.restful = 0
    }
  }

  /** When to look again. */
  private async turn(signal: AbortSignal): Promise<bigint | 'again'> {
    const { clock } = this.c
    try {
      this.observed = this.named(await this.look(signal))
      this.noteEnds()
      const other = this.hooks.otherKubelet()
      if (other !== undefined) return this.leaveAlone(other)
      this.heldByOther = undefined
      if (this.ending === undefined && !this.hooks.mayStart()) return clock.monotonicNanos() + this.syncNanos
      const turn = this.decide()
      this.waiting = turn.waiting
      this.note()
      for (const action of turn.actions) await this.carryOut(action, signal)
      this.lastProblem = ''
      this.failures = 0
      this.restful = turn.actions.length > 0 || turn.wakeAtNanos !== undefined ? 0 : this.restful + 1
      if (turn.actions.length > 0) return 'again'
      const latest = clock.monotonicNanos() + this.syncNanos
      return turn.wakeAtNanos === undefined || turn.wakeAtNanos > latest ? latest : turn.wakeAtNanos
    } catch (e) {
      this.restful = 0
      if (signal.aborted) return 0n
      return this.failed(e)
    }
  }

  /** A pod at rest is not asked for when a look at the whole node has just shown that nothing of it changed. */
  private async look(signal: AbortSignal): Promise<ObservedPod> {
    const { view } = this.c
    const recent = this.restful % fullLookEvery === 0 ? undefined : view.recent(this.uid, recentNanos)
    return recent ?? (await view.refresh(this.uid, signal))
  }

  /** The runtime tells ends by the wall clock: how long ago is asked once, and an end in the future has just happened. */
  private noteEnds(): void {
    const { clock } = this.c
    const { containers } = this.observed
    for (const id of [...this.endedAt.keys()])
      if (!containers.some((c) => c.id === id)) this.endedAt.delete(id)
    for (const { id, state, finishedAtNanos } of containers) {
      if (state !== 'exited' || this.endedAt.has(id)) continue
      const ago = clock.nowNanos() - finishedAtNanos
      this.endedAt.set(id, clock.monotonicNanos() - (ago > 0n ? ago : 0n))
    }
  }

  private decide(): PodTurn {
    return decidePodTurn({
      spec: this.spec,
      observed: this.observed,
      ending: this.ending,
      backoffs: this.backoffs,
      holds: this.holds,
      prepared: this.prepared,
      released: this.released,
      resize: this.needsResize(),
      endedAt: this.endedAt,
      nowNanos: this.c.clock.monotonicNanos(),
    })
  }

  /** Asked for once per set of values: a runtime that shows other numbers than it was given must not be asked for ever. */
  private needsResize(): boolean {
    if (this.spec === undefined || this.ending !== undefined || !this.prepared) return false
    if (this.resizedFor === this.amounts(this.spec)) return false
    if (this.resizeHold !== undefined && this.resizeHold.untilNanos > this.c.clock.monotonicNanos())
      return false
    return this.c.planner.differing(this.spec, this.observed).ids.length > 0
  }

  private amounts(spec: PodSpec): string {
    const { containers, initContainers, resources } = spec.pod
    const lists = [...initContainers, ...containers, ...(resources === undefined ? [] : [{ resources }])]
    return canonicalJson(lists.map(({ resources: r }) => [[...r.requests], [...r.limits]]))
  }

  private async carryOut(action: PodAction, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.c
    if (action.kind === 'start-container') {
      const { name, attempt, endedAtNanos } = action
      if (endedAtNanos !== undefined)
        this.backoffs.set(name, nextBackoff(this.backoffs.get(name), endedAtNanos, clock.monotonicNanos()))
      log.info('starting a container', { pod: this.name, container: name, attempt })
    }
    const input = {
      spec: this.spec,
      manifest: this.manifest,
      observed: this.observed,
      pullBackoffs: this.pullBackoffs,
      pullSignal: this.pullSignal ?? signal,
    }
    const hold = await act(action, input, this.c, signal)
    if (action.kind === 'start-container' || action.kind === 'start-created') this.held(action.name, hold)
    if (action.kind === 'run-sandbox') this.holds.delete('')
    if (action.kind === 'prepare') this.prepared = true
    if (action.kind === 'resize' && this.spec !== undefined) this.resized(this.spec, hold)
    if (action.kind === 'release') this.released = true
    if (action.kind === 'forget') {
      this.forgotten = true
      this.hooks.onForgotten()
    }
  }

  private resized(spec: PodSpec, hold: Hold | undefined): void {
    if (hold === undefined) this.resizedFor = this.amounts(spec)
    else if (hold.message !== this.resizeHold?.message)
      this.c.log.warn('a resize waits until less memory is used', { pod: this.name, message: hold.message })
    this.resizeHold = hold
  }

  private held(name: string, hold: Hold | undefined): void {
    if (hold === undefined) this.holds.delete(name)
    else {
      this.holds.set(name, hold)
      this.c.log.warn('a container does not start', {
        pod: this.name,
        container: name,
        reason: hold.reason,
        message: hold.message,
      })
    }
  }

  /** Looked at again when something of the runtime changes. */
  private leaveAlone(why: string): bigint {
    const nowNanos = this.c.clock.monotonicNanos()
    if (this.ending !== undefined) {
      this.forgotten = true
      this.hooks.onForgotten()
    } else if (why !== this.heldByOther) {
      this.c.log.error('a pod is not started: another one is in its place', { pod: this.name, why })
      this.holds.set('', { untilNanos: nowNanos, reason: 'FailedCreatePodSandBox', message: why })
    }
    this.heldByOther = why
    return nowNanos + this.syncNanos
  }

  private failed(e: unknown): bigint {
    const error = asKeelsonError(e)
    if (error.code === 'internal.unexpected') throw e
    const now = this.c.clock.monotonicNanos()
    const isAway = isRuntimeAway(error)
    this.failures += isAway ? 0 : 1
    const untilNanos = now + (isAway ? awayNanos : retryNanos(this.failures))
    if (!isAway && this.observed.sandboxes[0]?.ready !== true && this.ending === undefined)
      this.holds.set('', { untilNanos, reason: 'FailedCreatePodSandBox', message: error.message })
    // Once while it stays the same: a runtime that is away is reported by whoever watches it.
    if (!isAway && error.message !== this.lastProblem)
      this.c.log.warn('a pod is not as it should be; trying again', { pod: this.name, error })
    this.lastProblem = error.message
    return untilNanos
  }

  /** Nothing in the runtime has no name there either. */
  private named(observed: ObservedPod): ObservedPod {
    if (observed.name !== '') return observed
    const { name, namespace } = this.spec?.pod ?? this.observed
    return { ...observed, name, namespace }
  }

  private note(): void {
    if (this.spec !== undefined) this.status = this.currentStatus(this.spec)
  }

  private currentStatus(spec: PodSpec): PodStatus {
    return podStatus({
      spec,
      observed: this.observed,
      waiting: this.waiting,
      sandboxProblem: this.holds.get('')?.message,
      hostIPs: this.c.hostIPs,
      startedAtNanos: this.startedAtNanos(),
      runtimeName: this.c.runtimeName,
      nowNanos: this.c.clock.nowNanos(),
      before: this.status,
    })
  }

  /** The first sandbox that is left tells it after a restart of ours. */
  private startedAtNanos(): bigint {
    const oldest = this.observed.sandboxes.at(-1)?.createdAtNanos
    return oldest !== undefined && oldest < this.seenAtNanos ? oldest : this.seenAtNanos
  }
}
