// All pods of the node: takes what the files want and what the runtime shows, and keeps one worker for each pod that is
// wanted or still there. Decides only who has a worker; what a pod needs is the worker's business.
import type { PodJson } from '../../../core/pod/document.js'
import { isStaticPod } from '../../../core/pod/pod.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { pause, retry } from '../../../core/units/retry.js'
import { nextTurn } from '../../../core/units/turns.js'
import type { HealthCheck } from '../../../serve/health.js'
import type { PodContext } from '../context.js'
import { isUp, type ObservedPod } from '../decide/observed.js'
import { isMarkedByOther, isOwnPod, ownerMarks } from '../decide/owner.js'
import type { AdmissionHandler, Rejection, WantedPod, WantedPods } from '../decide/wanted-pod.js'
import type { StaticPodNow } from '../mirror/decide/mirror-actions.js'
import { podsDirectory } from '../to-cri/names.js'
import { startPleg } from '../view/pleg.js'
import type { NodeCgroups } from './node-cgroups.js'
import { removeOrphans } from './orphans.js'
import { createPodMetrics } from './pod-metrics.js'
import { type KillRequest, type PodReport, PodWorker, type WorkerHooks } from './worker.js'

/** Pods whose workers begin in one turn of the event loop: health and metrics must not wait for all of them. */
const podsATurn = 8

interface PodRunnerOptions {
  readonly context: PodContext
  /** Each time what is wanted has changed. */
  readonly wanted: AsyncIterable<WantedPods>
  readonly syncMs: number
  readonly nodeCgroups: NodeCgroups
  /** Something in the runtime has changed: a container started or ended. */
  readonly onChange?: () => void
  /** First rejection wins; asked in order for each new pod, the oldest first. */
  readonly admission?: readonly AdmissionHandler[]
  /** Pods have come or gone. */
  readonly onPods?: () => void
  /** What a pod's status says has changed. */
  readonly onStatus?: (uid: string) => void
  readonly signal: AbortSignal
}

export interface PodRunner {
  readonly healthChecks: readonly HealthCheck[]
  /** Every pod that is wanted or ends, as the API would show it. */
  pods(): readonly PodJson[]
  /** What runs in the runtime, pods of other kubelets included. */
  running(): readonly ObservedPod[]
  /** The pod of this name as it is in the runtime; the newest where two overlap. */
  find(namespace: string, name: string): ObservedPod | undefined
  /** What the API server is to know of the pod; undefined: nothing yet, or not a pod of this node. */
  report(uid: string): PodReport | undefined
  /** Pods that run or are to run; not those that have ended or are ending. */
  active(): readonly PodSpec[]
  /** Uids of pods that have ended for good, while their object or manifest is still there. */
  finished(): readonly string[]
  /** Ends a pod that its source still wants; resolves when nothing of it runs. A pod that is not there has ended. */
  kill(uid: string, request: KillRequest): Promise<void>
  /** Pods of manifests, those that end included. */
  statics(): readonly StaticPodNow[]
  /** The pod as the API would show it. */
  document(uid: string): PodJson | undefined
  /** Every source of pods was read at least once. */
  complete(): boolean
  /** Resolves when the signal has ended everything; rejects when a part died of a bug. */
  readonly done: Promise<void>
}

const cleanUpMs = 60_000
const relistRetryMs = 1_000
const nodeCgroupsRetryMs = 5_000

const nameOf = ({ namespace, name }: ObservedPod): string => `${namespace}/${name}`

export function startPodRunner(o: PodRunnerOptions): PodRunner {
  const { context: c, signal } = o
  const { log, clock, view } = c
  const workers = new Map<string, PodWorker>()
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  const running = new Set<Promise<void>>()
  const metrics = createPodMetrics(c.metrics, view, () => desiredPods())
  const foreign = new Set<string>()
  /** Workers that do not run yet: they wait for the cgroups of the node. */
  const added = new Set<PodWorker>()
  /** Pods that an earlier kubelet with this root directory has left there. */
  let inherited: ReadonlySet<string> = new Set()
  let wanted: WantedPods | undefined
  let lastSync = clock.monotonicNanos()
  let failure: unknown

  const desiredPods = () => {
    const specs = wantedSpecs()
    const ofFiles = specs.filter((spec) => isStaticPod(spec.pod)).length
    return { static: ofFiles, api: specs.length - ofFiles }
  }
  const wantedSpecs = () => [...workers.values()].flatMap(({ wantedSpec }) => wantedSpec ?? [])

  const keep = (work: Promise<void>): void => {
    const kept: Promise<void> = work
      .catch((e: unknown) => {
        if (ended.aborted) return
        failure ??= e
        stop.abort(e)
      })
      .finally(() => running.delete(kept))
    running.add(kept)
  }

  /** Restarts of pods that have ended and are wanted again. */
  const earlierAttempts = new Map<string, ReadonlyMap<string, number>>()

  const addWorker = (uid: string): PodWorker => {
    const hooks: WorkerHooks = {
      nameIsFree: () => {
        // Two pods of the API server can have one name only when the first was deleted by force: nothing waits for it.
        if (worker.isFromApi) return true
        for (const other of workers.values())
          if (other.isTerminating && other !== worker && other.name === worker.name) return false
        return true
      },
      heldByOther: () => heldByOther(worker),
      onGone: () => {
        workers.delete(uid)
        o.onPods?.()
        log.info('pod removed', { pod: worker.name, uid })
        for (const other of workers.values()) if (other.name === worker.name) other.notify()
        // Its manifest was there again before the pod had ended: only now it can begin anew. One that was given up while it
        // was wanted is another kubelet's.
        if (worker.isWanted || wanted?.pods.has(uid) !== true) return
        earlierAttempts.set(uid, worker.attempts)
        keep(takeInTurn(() => wanted))
      },
      onStatus: () => o.onStatus?.(uid),
      onTurn: (seconds, acted) => {
        metrics.turn(seconds)
        // The relist finds no news in what a worker has seen first.
        if (acted) o.onChange?.()
      },
    }
    const worker = new PodWorker(uid, c, BigInt(o.syncMs) * 1_000_000n, hooks, earlierAttempts.get(uid))
    earlierAttempts.delete(uid)
    workers.set(uid, worker)
    return worker
  }

  /** Why another kubelet's pod is in the way of this one; undefined: it is not. */
  const heldByOther = ({ uid, name, hasSandbox, isTerminating }: PodWorker): string | undefined => {
    if (isMarkedByOther(view.annotations(uid), c.identity))
      return `the kubelet with the root directory ${view.annotations(uid)[ownerMarks.rootDir] ?? ''} runs this pod`
    if (hasSandbox || isTerminating) return undefined
    const namesake = view.all().find((pod) => !workers.has(pod.uid) && nameOf(pod) === name && isUp(pod))
    return (
      namesake &&
      `another pod of this name, which this kubelet does not manage, is running with the uid ${namesake.uid}`
    )
  }

  /** What ends needs no place, and a static pod that runs keeps its own. Others are asked again after a restart, as upstream. */
  const admit = async (worker: PodWorker, pod: WantedPod): Promise<void> => {
    const rejection = pod.rejection ?? (await askAdmission(worker, pod))
    if (rejection === undefined) return
    log.warn('pod rejected', { pod: worker.name, uid: pod.uid, ...rejection })
    const [namespace = '', name = ''] = worker.name.split('/')
    c.events.pod({ namespace, name, uid: pod.uid }, { type: 'Warning', ...rejection })
    worker.reject(rejection)
  }
  const askAdmission = async (
    worker: PodWorker,
    { spec, api }: WantedPod,
  ): Promise<Rejection | undefined> => {
    if (spec === undefined || worker.isTerminating) return undefined
    if (worker.hasSandbox && api === undefined) return undefined
    const others = [...workers.values()].flatMap((other) => (other === worker ? [] : (other.heldSpec ?? [])))
    for (const handler of o.admission ?? []) {
      const rejection = await handler({ pod: spec, api, others }, ended)
      if (rejection !== undefined) return rejection
    }
    return undefined
  }

  const isUnwanted = (worker: PodWorker, { pods, broken }: WantedPods): boolean => {
    const pod = pods.get(worker.uid)
    return pod === undefined ? !broken.has(worker.file) : worker.wasRemoved(pod)
  }

  /** New names first end their predecessors, so ending comes before starting. */
  const takeWanted = async (now: WantedPods): Promise<void> => {
    const first = now.complete && wanted?.complete !== true
    wanted = now
    for (const worker of workers.values())
      if (worker.isWanted && isUnwanted(worker, now)) {
        log.info('pod is no longer wanted; terminating it', { pod: worker.name, uid: worker.uid })
        worker.unwant()
      }
    if (first) inherited = new Set(await c.host.list(podsDirectory(c.paths)))
    endStrays()
    for (const pod of byAge(now.pods)) {
      const { uid, file } = pod
      const known = workers.get(uid)
      const worker = known ?? addWorker(uid)
      worker.want(pod)
      if (known !== undefined) continue
      added.add(worker)
      await admit(worker, pod)
      log.info(view.get(uid) === undefined ? 'pod added' : 'adopting a running pod', {
        pod: worker.name,
        uid,
        ...(file === '' ? {} : { file }),
      })
    }
    o.onPods?.()
    await o.nodeCgroups.apply(wantedSpecs(), ended)
    for (const [i, worker] of [...added].entries()) {
      if (i % podsATurn === podsATurn - 1) await nextTurn()
      keep(worker.run(ended))
    }
    added.clear()
    if (first) await clean()
  }

  let taking: Promise<void> = Promise.resolve()
  /** One list after the other. */
  const takeInTurn = (latest: () => WantedPods | undefined): Promise<void> => {
    taking = taking.then(() =>
      retry(
        async () => {
          const now = latest()
          if (now !== undefined) await takeWanted(now)
        },
        {
          clock,
          signal: ended,
          waitMs: () => nodeCgroupsRetryMs,
          onRetry: (error) => log.error('failed to apply node cgroups; retrying', { error }),
        },
      ),
    )
    return taking
  }

  /** Pods of this kubelet in the runtime that no file wants. Pods of others are left alone, and said once. */
  const endStrays = (): void => {
    if (wanted?.complete !== true) return
    for (const uid of view.uids()) {
      if (workers.has(uid) || wanted.pods.has(uid)) continue
      const noted = view.annotations(uid)
      const seen = view.get(uid)
      const { name = '', namespace = '' } = seen ?? {}
      // Another kubelet here may have removed the directory of a pod that has ended, and not its sandbox.
      const isLeft = inherited.has(uid) || (seen !== undefined && !isUp(seen))
      const pod = { uid, name, annotations: noted, inherited: isLeft }
      if (!isOwnPod(pod, c.identity)) {
        if (!foreign.has(uid))
          log.info('ignoring a pod that this kubelet did not start', { pod: `${namespace}/${name}`, uid })
        foreign.add(uid)
      } else if (!wanted.broken.has(noted[ownerMarks.manifest] ?? '')) {
        const worker = addWorker(uid)
        log.info('terminating a pod that no source has', { pod: worker.name, uid })
        worker.unwant()
        keep(worker.run(ended))
      }
    }
  }

  const clean = async (): Promise<void> => {
    const isKnown = (uid: string): boolean => workers.has(uid) || view.get(uid) !== undefined
    const removed = await removeOrphans(c, isKnown, ended)
    if (removed.length > 0) metrics.orphansRemoved(removed.length)
  }

  const pleg = startPleg({
    runtime: c.runtime,
    view,
    clock,
    log,
    metrics: c.metrics,
    signal: ended,
    onChange: (uids) => {
      lastSync = clock.monotonicNanos()
      for (const uid of uids) workers.get(uid)?.notify()
      for (const worker of workers.values()) if (worker.isHeldByOther) worker.notify()
      endStrays()
      o.onChange?.()
    },
  })

  const follow = async (): Promise<void> => {
    // Decisions about pods that run need to know which do; a runtime that is unreachable is waited for.
    await retry(() => view.relist(ended), {
      clock,
      signal: ended,
      waitMs: () => relistRetryMs,
      // The PLEG warns of it, once.
      onRetry: (error) => log.debug('failed to list pods; retrying', { error }),
    })
    for await (const now of o.wanted) await takeInTurn(() => now)
  }
  const cleanUpRegularly = async (): Promise<void> => {
    while (!ended.aborted) {
      await pause(clock, cleanUpMs, ended)
      lastSync = clock.monotonicNanos()
      if (!ended.aborted && wanted?.complete === true) await clean()
    }
  }
  c.prober.onChange((uid) => workers.get(uid)?.probed())
  keep(c.prober.done)
  keep(pleg.done)
  keep(follow())
  keep(cleanUpRegularly())

  const finish = async (): Promise<void> => {
    if (!ended.aborted)
      await new Promise<void>((resolve) => ended.addEventListener('abort', () => resolve(), { once: true }))
    while (running.size > 0) await Promise.all([...running])
    if (failure !== undefined) throw failure
  }

  return {
    healthChecks: [pleg.health, syncLoop(() => clock.monotonicNanos() - lastSync)],
    pods: () => [...workers.values()].flatMap((worker) => worker.document() ?? []).sort(byName),
    running: () => view.all().filter((pod) => pod.sandboxes.some((s) => s.ready)),
    find(namespace, name) {
      const all = view.all().filter((pod) => pod.namespace === namespace && pod.name === name)
      return all.find((pod) => workers.get(pod.uid)?.isTerminating === false) ?? all[0]
    },
    report: (uid) => workers.get(uid)?.report(),
    active: () =>
      [...workers.values()].flatMap((worker) =>
        worker.report()?.mayRun === false ? [] : (worker.wantedSpec ?? []),
      ),
    finished: () => [...workers.values()].filter((worker) => worker.isOver).map(({ uid }) => uid),
    kill: async (uid, request) => workers.get(uid)?.kill(request),
    statics: () => [...workers.values()].flatMap((worker) => worker.staticPod() ?? []),
    document: (uid) => workers.get(uid)?.document(),
    complete: () => wanted?.complete === true,
    done: finish(),
  }
}

/** Who came first is admitted first. */
const byAge = (pods: WantedPods['pods']): readonly WantedPod[] => {
  const created = ({ api }: WantedPod): string => api?.metadata?.creationTimestamp ?? ''
  return [...pods.values()].sort((a, b) => (created(a) < created(b) ? -1 : created(a) > created(b) ? 1 : 0))
}

const staleNanos = 150n * 1_000_000_000n

const syncLoop = (silentNanos: () => bigint): HealthCheck => ({
  name: 'syncloop',
  check: () =>
    silentNanos() > staleNanos ? `the sync loop was last active ${silentNanos()} ns ago` : undefined,
})

const byName = (a: PodJson, b: PodJson): number => {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}
