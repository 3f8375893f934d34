// Memory QoS with a life: passes on change and on a timer, and the calls of the pod runner. The
// kubelet and the companion both hold one.
import { asKeelsonError, keelsonError } from '../core/errors.js'
import type { LiveReport } from '../core/memory-qos/effective-values.js'
import type { Finding } from '../core/memory-qos/findings.js'
import { planMemoryQos, type QosFile, qosFiles, type TargetsInput } from '../core/memory-qos/targets.js'
import type { PodResources } from '../core/pod/pod.js'
import { withAny } from '../core/units/any-signal.js'
import { pause } from '../core/units/retry.js'
import type { CgroupPath } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { Log } from '../ports/log.js'
import { readLive } from './effective-values.js'
import { type EngineOptions, isAbovePods, MemoryQosEngine, type PassReport } from './engine.js'
import { NodeCheck } from './node-check.js'
import type { Observation } from './observe-pods.js'
import { MemoryQosReporter, type ReporterOptions } from './report.js'
import { takeBack } from './take-back.js'

export interface MemoryQosOptions extends EngineOptions, ReporterOptions {
  readonly clock: Clock
  readonly log: Log
  /** Settings and node at this moment; undefined: not known yet, so nothing is done. */
  readonly node: () => Omit<TargetsInput, 'pods'> | undefined
  /** Pods that are on the node now; undefined: not known yet. */
  readonly pods: () => readonly PodResources[] | undefined
  /** kernel-check.ts, when the kernel is a risk. */
  readonly kernelMessage?: string
  /** Whether the cgroup file system is mounted with memory_recursiveprot. Default true. */
  readonly recursiveProtection?: boolean
  readonly signal: AbortSignal
  readonly periodMs?: number
  /** How often the values above the pods are compared with what the last pass left. Default: only with a pass. */
  readonly watchMs?: number
}

export interface MemoryQos {
  /** kubepods and the QoS cgroups with their values; reserved cgroups, which must exist. For the owner of the tree. */
  setUpNode(): Promise<void>
  /** The levels above pods follow the pods as they are now: before a new pod's own cgroup is made. */
  coverPods(): Promise<void>
  /** Ancestors first, then the pod's own cgroup with every value. Returns the cgroup. */
  preparePod(pod: PodResources): Promise<string>
  /** The pod is over: the levels above shrink at the next pass. */
  releasePod(pod: PodResources): void
  /** Something changed: a pass follows soon. */
  notify(): void
  passNow(): Promise<PassReport | undefined>
  /** Findings of the newest pass. */
  findings(): readonly Finding[]
  live(pod?: string): LiveReport
  /** Passes until the signal is aborted. */
  run(): Promise<void>
}

const defaultPeriodMs = 60_000
/** Time for changes that come together. */
const settleMs = 200

export function createMemoryQos(options: MemoryQosOptions): MemoryQos {
  const { cgroups, clock, log, signal } = options
  const engine = new MemoryQosEngine(options)
  const reporter = new MemoryQosReporter(options)
  const check = new NodeCheck(cgroups, options.kernelMessage)
  /** Pods that are being prepared and that the source may not show yet. */
  const coming = new Map<string, PodResources>()
  let newest: { readonly report: PassReport; readonly findings: readonly Finding[] } | undefined
  let wake: (() => void) | undefined
  let notified = false

  const inputNow = (): TargetsInput | undefined => {
    const node = options.node()
    const pods = options.pods()
    if (node === undefined || pods === undefined) return undefined
    const shown = new Set(pods.map((pod) => pod.uid))
    return { ...node, pods: [...pods, ...[...coming.values()].filter((pod) => !shown.has(pod.uid))] }
  }
  const needInput = (): TargetsInput => {
    const input = inputNow()
    if (input === undefined)
      throw keelsonError('internal.unexpected', 'Memory QoS is asked before it knows the node')
    return input
  }

  async function passNow(): Promise<PassReport | undefined> {
    const input = inputNow()
    if (input === undefined) return undefined
    const report = await engine.pass(input, { signal })
    for (const uid of [...coming.keys()])
      if (options.pods()?.some((pod) => pod.uid === uid)) coming.delete(uid)
    await restoreReleased(input, report)
    const findings = [...report.findings, ...check.findings(input, report)]
    newest = { report, findings }
    reporter.take(report, findings)
    if (report.kubelet !== undefined && report.writes > 0)
      log.info('Memory QoS: values were reset and are restored; a kubelet resets them when it starts', {
        kubelet: report.kubelet.pid,
        startedSecondsAgo: Math.round(report.kubelet.ageMs / 1000),
      })
    if (report.writes + report.calls > 0)
      log.info('Memory QoS: values applied', {
        files: report.writes,
        containers: report.calls,
        failed: report.failures,
      })
    return report
  }

  /** A reserved cgroup that is no longer enforced gets back what it had before us. */
  async function restoreReleased(input: TargetsInput, { plan }: PassReport): Promise<void> {
    const { found, runtime, timeoutMs } = options
    if (found === undefined) return
    const planned = new Set(plan.targets.map((t) => t.path))
    const released = new Map(
      [...found.cgroups].filter(([path, f]) => f.level === 'reserved' && !planned.has(path)),
    )
    if (released.size === 0) return
    const hands = { cgroups, runtime, pageSize: input.node.pageSize, timeoutMs, signal }
    const { settled, writes } = await takeBack(hands, released)
    await found.forget(settled)
    log.info('Memory QoS: reserved cgroups are no longer enforced', { cgroups: settled, files: writes })
  }

  const notify = (): void => {
    notified = true
    wake?.()
  }

  return {
    async setUpNode() {
      const { targets } = planMemoryQos(needInput())
      for (const { level, path } of targets) {
        if (level === 'reserved' && !cgroups.exists(path))
          throw keelsonError(
            'memory-qos.reserved-missing',
            `enforce a reserved cgroup: ${path} does not exist; create it, or take it out of enforceNodeAllocatable`,
            { path },
          )
        if (level !== 'kubepods' && level !== 'qos') continue
        const isNew = !cgroups.exists(path)
        await cgroups.ensure(path, { signal })
        if (isNew) engine.created(path)
      }
      await engine.pass(needInput(), { signal, scope: (t) => isAbovePods(t) || t.level === 'reserved' })
    },
    async coverPods() {
      await engine.pass(needInput(), { signal, scope: isAbovePods })
    },
    async preparePod(pod) {
      const { uid } = pod
      coming.set(uid, pod)
      const input = needInput()
      const target = planMemoryQos(input).targets.find((t) => t.level === 'pod' && t.pod?.uid === uid)
      if (target === undefined)
        throw keelsonError('internal.unexpected', `pod ${pod.name} has no cgroup in the plan`)
      await engine.pass(input, { signal, scope: isAbovePods })
      const isNew = !cgroups.exists(target.path)
      await cgroups.ensure(target.path, { signal })
      if (isNew) engine.created(target.path)
      await engine.pass(input, { signal, scope: (t) => t.id === target.id })
      return target.path
    },
    releasePod(pod) {
      coming.delete(pod.uid)
      notify()
    },
    notify,
    passNow,
    findings: () => newest?.findings ?? [],
    live: (pod) =>
      readLive(cgroups, newest?.report.observed ?? [], {
        pod,
        recursive: options.recursiveProtection ?? true,
      }),
    async run() {
      while (!signal.aborted) {
        try {
          await passNow()
        } catch (e) {
          if (signal.aborted) return
          log.warn('Memory QoS: reconciliation failed; retrying', { error: asKeelsonError(e) })
        }
        await rest()
      }
    },
  }

  /** Until the period is over, or a value above the pods is not what the last pass left. */
  async function pauseUntilChange(end: AbortSignal): Promise<void> {
    const periodMs = options.periodMs ?? defaultPeriodMs
    const stepMs = Math.min(options.watchMs ?? periodMs, periodMs)
    for (let left = periodMs; left > 0 && !end.aborted; left -= stepMs) {
      await pause(clock, Math.min(stepMs, left), end)
      if (hasChanged(newest?.report.observed ?? [])) return
    }
  }

  function hasChanged(observed: readonly Observation[]): boolean {
    const isOther = (path: CgroupPath, file: QosFile, left: string | undefined): boolean => {
      const now = cgroups.read(path, file)
      return now !== undefined && left !== undefined && new TextDecoder().decode(now).trim() !== left
    }
    return observed.some(
      ({ target, path, files }) =>
        isAbovePods(target) && qosFiles.some((file) => isOther(path, file, files[file])),
    )
  }

  /** Until the period is over or a notify, then a moment more for what comes together. */
  async function rest(): Promise<void> {
    if (!notified) {
      const early = new AbortController()
      wake = () => early.abort()
      await withAny([signal, early.signal], pauseUntilChange)
      wake = undefined
    }
    if (notified) await pause(clock, settleMs, signal)
    notified = false
  }
}
