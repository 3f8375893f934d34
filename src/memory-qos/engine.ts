// One pass of Memory QoS over a node: plan, look, decide file by file, note what is found, write in order, read back. Passes
// never overlap. Where nothing changed, a pass reads and does nothing else.
import { asKeelsonError } from '../core/errors.js'
import {
  driftFinding,
  type Finding,
  highBelowUsage,
  podRefused,
  podSkipped,
  unifiedIgnored,
  writeFailed,
} from '../core/memory-qos/findings.js'
import {
  type MemoryQosTargets,
  type MemoryTarget,
  planMemoryQos,
  type QosFile,
  qosFiles,
  type TargetsInput,
} from '../core/memory-qos/targets.js'
import { settlePodUids } from '../core/pod/origin.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { RuntimeService } from '../ports/runtime.js'
import { carryOut, type Hands } from './carry-out.js'
import { listRunning, type RunningByPod } from './containers.js'
import {
  decideFile,
  type FileDecision,
  type FileDecisionInput,
  type FileHistory,
  type KubeletStart,
  nextHistory,
  noHistory,
} from './decide/decide.js'
import { orderWrites, type PendingWrite } from './decide/order.js'
import type { FoundNote, FoundValues } from './found-values.js'
import { type Observation, observe } from './observe-pods.js'
import { OtherFiles } from './other-files.js'

export interface EngineOptions {
  readonly cgroups: CgroupTree
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'updateContainerResources'>
  readonly clock: Clock
  /** For each call of the runtime. */
  readonly timeoutMs: number
  /** Whose cpu, limits, pids and hugetlb are ours to write as well: a companion's never are. */
  readonly ownsOtherFiles: (target: MemoryTarget) => boolean
  /** Where first values are kept; undefined: nothing is noted. */
  readonly found?: FoundValues
  /** Asked when a value of ours was reset. Undefined: the kubelet is this process. */
  readonly findKubelet?: () => Promise<KubeletStart | undefined>
  /** Which cgroups are noted. Default: all. */
  readonly isNoted?: (target: MemoryTarget) => boolean
  /** Cgroups that keep the values that the first pass finds, until their own wanted values change. Default: none. */
  readonly keepsFound?: (target: MemoryTarget) => boolean
}

interface PassOptions {
  readonly signal: AbortSignal
  /** Only these targets are looked at and written. Default: all. */
  readonly scope?: (target: MemoryTarget) => boolean
}

export interface PassReport {
  readonly plan: MemoryQosTargets
  readonly observed: readonly Observation[]
  /** Control files written, and changing calls to the runtime. */
  readonly writes: number
  readonly calls: number
  /** Files of ours that another writer reset and that are left so. */
  readonly drifts: number
  /** The kubelet that ran when values of ours were found reset. */
  readonly kubelet: KubeletStart | undefined
  readonly failures: number
  readonly findings: readonly Finding[]
}

interface Verdict {
  readonly observation: Observation
  readonly input: FileDecisionInput
  readonly decision: FileDecision
}

/** What is remembered of each file between passes. */
class FileHistories {
  private readonly byPath = new Map<CgroupPath, Map<QosFile, FileHistory>>()

  get(path: CgroupPath, file: QosFile): FileHistory {
    return this.byPath.get(path)?.get(file) ?? noHistory
  }

  set({ observation: { path }, input: { file } }: Verdict, history: FileHistory): void {
    const files = this.byPath.get(path) ?? new Map<QosFile, FileHistory>()
    files.set(file, history)
    this.byPath.set(path, files)
  }

  keep(present: ReadonlySet<CgroupPath>): void {
    for (const path of [...this.byPath.keys()]) if (!present.has(path)) this.byPath.delete(path)
  }
}

export class MemoryQosEngine {
  private readonly histories = new FileHistories()
  private readonly others: OtherFiles
  private turn: Promise<unknown> = Promise.resolve()

  constructor(private readonly options: EngineOptions) {
    this.others = new OtherFiles(options.cgroups)
  }

  /** Takes its turn behind a pass that is under way. */
  pass(input: TargetsInput, options: PassOptions): Promise<PassReport> {
    const mine = this.turn.then(() => this.run(input, options))
    this.turn = mine.catch(() => undefined)
    return mine
  }

  /** A cgroup that this process made: its other files are written as soon as they differ. */
  created(path: string): void {
    this.others.created(path)
  }

  private async run(input: TargetsInput, { signal, scope = () => true }: PassOptions): Promise<PassReport> {
    signal.throwIfAborted()
    const { cgroups, clock, runtime, timeoutMs } = this.options
    let running: RunningByPod = new Map()
    const hasClaims = input.pods.some((pod) => pod.staticUid !== undefined)
    if (hasClaims) running = await listRunning(runtime, signal, timeoutMs)
    const settled = settlePodUids(input.pods, (uid) => running.get(uid)?.[0]?.pod)
    const plan = planMemoryQos({ ...input, pods: settled.pods })
    const wanted = plan.targets.filter(scope)
    const needsContainers = wanted.some((t) => t.level === 'container')
    if (needsContainers && !hasClaims) running = await listRunning(runtime, signal, timeoutMs)
    const observed = observe(cgroups, wanted, running)
    const pageSize = input.node.pageSize
    const now = clock.monotonicNanos()
    const judgeAll = (kubelet?: KubeletStart): readonly Verdict[] =>
      observed.flatMap((o) => this.judge(o, now, pageSize, isAbovePods(o.target) ? kubelet : undefined))
    const first = judgeAll()
    const kubelet = first.some(isReset) ? await this.options.findKubelet?.() : undefined
    const verdicts = kubelet === undefined ? first : judgeAll(kubelet)
    const toWrite = verdicts.filter((v) => v.decision.kind === 'write')
    await this.note(toWrite, observed)
    const hands: Hands = { cgroups, runtime, pageSize, timeoutMs, signal }
    const done = await this.write(verdicts, hands)
    const owned = observed.filter((o) => this.options.ownsOtherFiles(o.target))
    const others = await this.others.pass(owned, pageSize, signal)
    for (const v of verdicts)
      this.histories.set(v, nextHistory(v.input, v.decision, !done.failed.has(v.observation.path)))
    if (wanted.length === plan.targets.length) await this.prune(observed)
    return {
      plan,
      observed: done.touched.size === 0 ? observed : observe(cgroups, wanted, running),
      writes: done.writes + others.writes,
      calls: done.calls,
      drifts: verdicts.filter((v) => v.decision.kind === 'drift').length,
      failures: done.failed.size,
      kubelet,
      findings: [
        ...settled.refused.map(({ pod, why }) => podRefused(pod, why)),
        ...plan.skipped.map((pod) => podSkipped(pod, pod.why)),
        ...verdicts.flatMap(reported),
        ...done.findings,
        ...others.findings,
      ],
    }
  }

  private judge(
    observation: Observation,
    nowNanos: bigint,
    pageSize: bigint,
    kubelet: KubeletStart | undefined,
  ): readonly Verdict[] {
    return qosFiles.flatMap((file) => {
      const desired = observation.target.desired[file]
      const content = observation.files[file]
      if (desired === undefined || content === undefined) return []
      const input: FileDecisionInput = {
        file,
        desired,
        observed: content,
        history: this.histories.get(observation.path, file),
        // A pod's or node's high is lifted or follows the pod; only a container is held back for its own use.
        usage: observation.usage,
        nowNanos,
        pageSize,
        kubelet,
        keepsFound: this.options.keepsFound?.(observation.target) ?? false,
      }
      return [{ observation, input, decision: decideFile(input) }]
    })
  }

  /** Only what is about to be written: a file that we leave alone is not restored either. */
  private async note(verdicts: readonly Verdict[], observed: readonly Observation[]): Promise<void> {
    const { found, isNoted = () => true, ownsOtherFiles } = this.options
    if (found === undefined) return
    const pendingOf = new Map<string, Record<string, string>>()
    for (const { observation, input } of verdicts)
      pendingOf.set(observation.path, {
        ...pendingOf.get(observation.path),
        [input.file]: input.observed,
      })
    const notes = observed
      .filter((o) => isNoted(o.target))
      .map((o): FoundNote => {
        const others = ownsOtherFiles(o.target) ? this.others.contents(o) : {}
        const files = { ...pendingOf.get(o.path), ...others }
        return { path: o.path, level: o.target.level, containerId: o.containerId, files }
      })
    await found.note(notes)
  }

  private async write(verdicts: readonly Verdict[], hands: Hands): Promise<Written> {
    const places = new Map(verdicts.map((v) => [v.observation.path, v.observation]))
    const steps = orderWrites(verdicts.filter((v) => v.decision.kind === 'write').map(pending))
    const result: Written = { writes: 0, calls: 0, touched: new Set(), failed: new Set(), findings: [] }
    for (const step of steps) {
      hands.signal.throwIfAborted()
      const place = places.get(step.id)
      if (place === undefined) continue
      result.touched.add(step.id)
      try {
        const values = place.containerId === undefined ? step.values : wholeSet(verdicts, place)
        const unchanged = await carryOut(hands, { ...step, values }, place)
        if (place.containerId === undefined) result.writes += Object.keys(step.values).length
        else result.calls += 1
        if (unchanged.length > 0) result.findings.push(unifiedIgnored(step.id, unchanged))
      } catch (e) {
        hands.signal.throwIfAborted()
        const error = asKeelsonError(e)
        // Gone between looking and writing: the container or pod has ended.
        if (error.code === 'cgroup.gone' || error.code === 'runtime.not-found') continue
        result.failed.add(step.id)
        result.findings.push(writeFailed(step.id, error.message))
      }
    }
    return result
  }

  /** What is not there any more is forgotten, here and on disk. */
  private async prune(observed: readonly Observation[]): Promise<void> {
    const present = new Set(observed.map((o) => o.path))
    this.histories.keep(present)
    this.others.keep(present)
    const { found, cgroups } = this.options
    if (found === undefined) return
    await found.forget(
      [...found.cgroups.keys()].filter((path) => !present.has(path) && !cgroups.exists(path)),
    )
  }
}

/** A runtime keeps keys that are left out, so a container is sent all that we stand by, unchanged files included. */
const wholeSet = (verdicts: readonly Verdict[], { path }: Observation): Record<string, string> =>
  Object.fromEntries(
    verdicts
      .filter((v) => v.observation.path === path)
      .filter(({ decision: { kind } }) => kind === 'write' || kind === 'settled')
      .map((v) => [v.input.file, v.input.desired]),
  )

/** The cgroups that a kubelet without Memory QoS sets to 0 when it starts. */
export const isAbovePods = ({ level }: MemoryTarget): boolean => level === 'kubepods' || level === 'qos'

const isReset = ({ observation: { target }, decision }: Verdict): boolean =>
  isAbovePods(target) &&
  (decision.kind === 'drift' || (decision.kind === 'write' && decision.why === 'drift'))

interface Written {
  writes: number
  calls: number
  readonly touched: Set<string>
  readonly failed: Set<string>
  readonly findings: Finding[]
}

const pending = ({ observation, input, decision }: Verdict): PendingWrite => ({
  id: observation.path,
  level: observation.target.level,
  depth: observation.target.depth,
  file: input.file,
  value: input.desired,
  grows: decision.kind === 'write' && decision.grows,
})

function reported({ observation, input, decision }: Verdict): readonly Finding[] {
  if (decision.kind === 'held') return [highBelowUsage(observation.path, input.desired, decision.usage)]
  if (decision.kind === 'drift')
    return [driftFinding(observation.path, input.file, input.desired, input.observed, input.kubelet?.pid)]
  return []
}
