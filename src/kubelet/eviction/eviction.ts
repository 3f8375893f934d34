// The loop of eviction: reads the signals each ten seconds, and at once when memory runs short; reclaims what the node can give
// back; else ends one pod and waits until it is gone. What to do is decided in decide/.
import { rethrowBug } from '../../core/errors.js'
import type { PodResources } from '../../core/pod/pod.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { PressureSample, PressureStats } from '../../stats/pressure.js'
import type { Pressure } from '../node/decide/conditions.js'
import { rejectedUnderPressure, type Toleration } from './decide/admission.js'
import { localStorageExceeded } from './decide/local-storage.js'
import { evictionText } from './decide/message.js'
import { type Observations, observe } from './decide/observations.js'
import { type PodUse, podUse } from './decide/pod-usage.js'
import { rankPods } from './decide/rank.js'
import { evictionGrace, hardGraceSeconds, isEvictable, type Reclaim, reclaimFor } from './decide/reclaim.js'
import { decideRound, initialState } from './decide/round.js'
import { resourceOf } from './decide/signals.js'
import { type Threshold, thresholdsMet, withContainerFs } from './decide/thresholds.js'
import type { EvictionMetrics } from './eviction-metrics.js'
import { watchMemory } from './watch-memory.js'

export interface EvictablePod {
  readonly pod: PodResources
  /** spec.volumes as written. */
  readonly volumes: unknown
  readonly graceSeconds: number
}

interface Kill {
  readonly reason: string
  readonly message: string
  readonly graceSeconds: number
  readonly conditions: readonly {
    readonly type: string
    readonly status: 'True'
    readonly reason: string
    readonly message: string
  }[]
}

export interface EvictionOptions {
  readonly thresholds: readonly Threshold[]
  /** evictionPressureTransitionPeriod. */
  readonly transitionMs: number
  /** evictionMaxPodGracePeriod. */
  readonly maxPodGraceSeconds: number
  readonly localStorageLimits: boolean
  readonly evictStaticPods: boolean
  readonly stats: PressureStats
  readonly pods: {
    /** Pods that have not ended and do not terminate. */
    active(): readonly EvictablePod[]
    /** Resolves when nothing of the pod runs and its volumes are gone: else the next round would count them still. */
    kill(uid: string, request: Kill): Promise<void>
  }
  /** 0: there was nothing to remove. */
  readonly reclaim: Readonly<Record<Reclaim, (signal: AbortSignal) => Promise<number>>>
  /** About the node. */
  readonly nodeEvent: (event: { type: 'Warning'; reason: string; message: string }) => void
  readonly podEvent: (
    pod: PodResources,
    event: {
      readonly type: 'Warning'
      readonly reason: string
      readonly message: string
      readonly annotations: Readonly<Record<string, string>>
    },
  ) => void
  readonly metrics: EvictionMetrics
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

export interface Eviction {
  pressure(): Pressure
  /** Why a new pod is not taken now; undefined: it is. */
  rejects(
    pod: PodResources,
    tolerations: readonly Toleration[],
  ): { readonly reason: string; readonly message: string } | undefined
  readonly done: Promise<void>
}

const everyMs = 10_000
/** A pod that takes longer to end is not waited for: the next one may have to go. */
const cleanUpMs = 30_000
/** Runtimes free the space of what was removed a moment later; no pod is to go for that moment. */
const freedWaitsMs = [100, 200, 400, 800, 1600]
/** Older values of pods are no ground for choosing one. */
const maxPodStatsAgeNanos = 30_000_000_000n
/** Measured once per volumeStatsAggPeriod, a minute by default. */
const maxDiskStatsAgeNanos = 180_000_000_000n

export function startEviction(o: EvictionOptions): Eviction {
  const { clock, log, stats, signal } = o
  let state = initialState
  let pressure: Pressure = { memory: false, disk: false, pid: false }
  const warned = new Set<string>()

  const warnOnce = (key: string, message: string, fields: Record<string, unknown> = {}): void => {
    if (!warned.has(key)) log.warn(message, fields)
    warned.add(key)
  }

  /** True: pods were ended, and the next round follows at once. */
  const round = async (): Promise<boolean> => {
    const sample = await stats.read(signal)
    const observations = observe(sample)
    const thresholds = withContainerFs(o.thresholds, sample.layout)
    const decided = decideRound(state, {
      thresholds,
      observations,
      transitionMs: o.transitionMs,
      nowNanos: clock.monotonicNanos(),
    })
    state = decided.state
    notePressure(decided.pressure)
    if (await evictOverLimit(sample)) return true
    const [first] = decided.urgent
    if (first === undefined) return false
    const resource = resourceOf[first.signal]
    log.warn('the node is short of a resource', {
      resource,
      signal: first.signal,
      threshold: first.value,
      available: observations.get(first.signal)?.available,
    })
    o.nodeEvent({
      type: 'Warning',
      reason: 'EvictionThresholdMet',
      message: `Attempting to reclaim ${resource}`,
    })
    if (await reclaimNode(first, sample, thresholds)) {
      log.info('the node has enough of the resource again, without evicting a pod', { resource })
      return false
    }
    return evictOne(first, decided.urgent, observations)
  }

  const notePressure = (now: Pressure): void => {
    for (const name of ['memory', 'disk', 'pid'] as const)
      if (now[name] !== pressure[name])
        log[now[name] ? 'warn' : 'info'](
          now[name] ? 'the node is under pressure' : 'the node is no longer under pressure',
          {
            resource: name,
          },
        )
    pressure = now
  }

  /** True: with what was given back no threshold is met any more. */
  const reclaimNode = async (
    { signal: scarce }: Threshold,
    { layout }: PressureSample,
    thresholds: readonly Threshold[],
  ): Promise<boolean> => {
    const ways = reclaimFor(scarce, layout)
    let removed = 0
    for (const way of ways)
      removed += await o.reclaim[way](signal).catch((e: unknown) => {
        signal.throwIfAborted()
        log.warn('failed to reclaim space', { what: way, error: rethrowBug(e) })
        return 0
      })
    if (ways.length === 0) return false
    const isEnough = async (): Promise<boolean> =>
      thresholdsMet(thresholds, observe(await stats.read(signal)), true).length === 0
    for (const waitMs of removed === 0 ? [] : freedWaitsMs) {
      if (await isEnough()) return true
      await pause(clock, waitMs, signal)
    }
    return await isEnough()
  }

  /** Values of pods as they are now; undefined: they are too old to choose a pod by them. */
  const usesFor = async (scarce: Threshold): Promise<ReturnType<typeof usesOf> | undefined> => {
    const isDisk = reclaimFor(scarce.signal, 'one').length > 0
    await (isDisk ? stats.measurePods(signal) : stats.refreshPods(signal))
    const sample = await stats.read(signal)
    const age = sample.pods === undefined ? undefined : clock.nowNanos() - sample.pods.timeNanos
    if (age !== undefined && age <= maxPodStatsAgeNanos) return usesOf(sample, clock.nowNanos())
    o.metrics.skipped('stale-stats')
    warnOnce('stale', 'no pod is evicted: the stats of pods are missing or too old to choose one by them', {
      source: sample.pods?.source,
      ageSeconds: age === undefined ? undefined : Number(age / 1_000_000_000n),
    })
    return undefined
  }

  const evictOne = async (
    first: Threshold,
    urgent: readonly Threshold[],
    observations: Observations,
  ): Promise<boolean> => {
    const found = await usesFor(first)
    if (found === undefined) return false
    for (const { signal: scarce } of urgent) {
      const seen = observations.get(scarce)
      if (seen !== undefined) o.metrics.statsAge(scarce, Number(clock.nowNanos() - seen.timeNanos) / 1e9)
    }
    const ranked = rankPods(o.pods.active(), found.uses, first.signal, found.layout)
    const chosen = ranked.find(({ pod }) => isEvictable(pod, o.evictStaticPods))
    const use = chosen && found.uses.get(chosen.pod.uid)
    if (chosen === undefined || use === undefined) {
      o.metrics.skipped('no-pod')
      // Right after a start no pod is known yet: that says nothing about those that run.
      if (ranked.length > 0)
        warnOnce('no-pod', 'no pod can be evicted: those that run are static or critical, or have no stats', {
          resource: resourceOf[first.signal],
          pods: ranked.map(({ pod }) => `${pod.namespace}/${pod.name}`),
        })
      return false
    }
    warned.clear()
    const { message, annotations } = evictionText(chosen.pod, use, urgent, observations)
    const conditions = [disruption(message)]
    o.metrics.evicted(first.signal)
    await evict(chosen, {
      message,
      annotations,
      conditions,
      graceSeconds: evictionGrace(first, o.maxPodGraceSeconds, chosen.graceSeconds),
    })
    return true
  }

  /** True: pods went because they use more local storage than they may. */
  const evictOverLimit = async (sample: PressureSample): Promise<boolean> => {
    if (!o.localStorageLimits) return false
    const { uses, layout } = usesOf(sample, clock.nowNanos())
    const over = o.pods.active().flatMap((entry) => {
      const use = uses.get(entry.pod.uid)
      const exceeded = use && localStorageExceeded(entry, use, layout !== 'one')
      return exceeded === undefined ? [] : [{ entry, exceeded }]
    })
    const [spared] = over.filter(({ entry }) => !isEvictable(entry.pod, o.evictStaticPods))
    if (spared !== undefined)
      warnOnce('spared', 'a pod exceeds its local storage and is not evicted: it is static or critical', {
        pod: `${spared.entry.pod.namespace}/${spared.entry.pod.name}`,
        message: spared.exceeded.message,
      })
    const leaving = over.filter(({ entry }) => isEvictable(entry.pod, o.evictStaticPods))
    await Promise.all(
      leaving.map(async ({ entry, exceeded: { limit, message } }) => {
        o.metrics.evicted(limit)
        await evict(entry, { message, annotations: {}, conditions: [], graceSeconds: hardGraceSeconds })
      }),
    )
    return leaving.length > 0
  }

  const evict = async (
    { pod }: EvictablePod,
    why: Omit<Kill, 'reason'> & { readonly annotations: Readonly<Record<string, string>> },
  ): Promise<void> => {
    const { annotations, ...kill } = why
    const name = `${pod.namespace}/${pod.name}`
    log.warn('evicting a pod', {
      pod: name,
      uid: pod.uid,
      message: why.message,
      graceSeconds: why.graceSeconds,
    })
    o.podEvent(pod, { type: 'Warning', reason: 'Evicted', message: why.message, annotations })
    const ended = o.pods.kill(pod.uid, { reason: 'Evicted', ...kill }).then(() => true)
    const waited = new AbortController()
    const late = pause(clock, cleanUpMs, signal, waited.signal).then(() => false)
    if (await Promise.race([ended, late])) log.info('the evicted pod has ended', { pod: name, uid: pod.uid })
    else if (!signal.aborted) log.warn('an evicted pod does not end', { pod: name, uid: pod.uid })
    waited.abort()
  }

  const run = async (): Promise<void> => {
    const memory = watchMemory({ ...o, thresholds: o.thresholds })
    while (!signal.aborted) {
      const again = await round().catch((e: unknown) => {
        if (signal.aborted) return false
        warnOnce('failed', 'failed to look for a shortage of resources; retrying', { error: rethrowBug(e) })
        return false
      })
      if (!again) await memory.wait(everyMs, signal)
    }
  }

  return {
    pressure: () => pressure,
    rejects: (pod, tolerations) => rejectedUnderPressure(pod, tolerations, pressure),
    done: run(),
  }
}

const disruption = (message: string): Kill['conditions'][number] => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'TerminationByKubelet',
  message,
})

function usesOf(
  { pods, podFilesystems, layout }: PressureSample,
  nowNanos: bigint,
): { readonly uses: ReadonlyMap<string, PodUse>; readonly layout: PressureSample['layout'] } {
  const since = nowNanos - maxDiskStatsAgeNanos
  const uses = (pods?.pods ?? []).map((pod) => podUse(pod, podFilesystems, since))
  return { uses: new Map(uses.map((use) => [use.uid, use])), layout }
}
