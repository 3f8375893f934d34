// The volumes of all pods of the node: mounted before a pod's sandbox, written anew at each sync and when an object changes,
// let go when the pod has ended.
import { asKeelsonError, type KeelsonError, keelsonError, rethrowBug } from '../../core/errors.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import type { Volume } from '../../core/pod/spec/volume.js'
import { podReferences } from '../pods/decide/references.js'
import { Wake } from '../pods/run/wake.js'
import type { MountedVolume, VolumeContext } from './context.js'
import { isFileVolume } from './file-volume.js'
import { mountVolume } from './mount-volume.js'

export interface PodVolumes {
  /** Every volume of the pod; throws with all problems, each of them an event too. */
  mount(spec: PodSpec, signal: AbortSignal): Promise<void>
  /** Where they are; empty: not mounted yet. */
  mounted(uid: string): ReadonlyMap<string, MountedVolume>
  /** The pod has other labels, annotations or containers now. */
  update(spec: PodSpec): void
  /** Nothing is written for the pod any more once this is done; its directories can be removed. */
  release(uid: string): Promise<void>
  /** Rejects when a refresh died of a bug. */
  readonly done: Promise<void>
}

interface PodVolumesOptions {
  readonly c: VolumeContext
  /** syncFrequency: files are looked after this often, or up to half as much later. */
  readonly syncMs: number
  readonly random?: () => number
  readonly signal: AbortSignal
}

interface Entry {
  spec: PodSpec
  mounted: ReadonlyMap<string, MountedVolume>
  dueNanos: bigint
  /** A refresh under way. */
  running: Promise<void> | undefined
}

/** An object may change a hundred times a second: its pods are written once per such a time. */
const settleNanos = 1_000_000_000n
/** Objects of one change are read by many pods at once; tokens are requests. */
const refreshesAtOnce = 4

export function createPodVolumes({ c, syncMs, random = Math.random, signal }: PodVolumesOptions): PodVolumes {
  const { clock } = c
  const entries = new Map<string, Entry>()
  const wake = new Wake(clock)
  const nextSync = (): bigint =>
    clock.monotonicNanos() + BigInt(Math.round(syncMs * (1 + random() / 2))) * 1_000_000n

  const mountAll = async (
    spec: PodSpec,
    volumes: readonly Volume[],
    mounting: AbortSignal,
  ): Promise<ReadonlyMap<string, MountedVolume>> => {
    const mounted = new Map<string, MountedVolume>()
    const problems: KeelsonError[] = []
    for (const volume of volumes)
      try {
        mounted.set(volume.name, await mountVolume(volume, { spec, c, signal: mounting }))
      } catch (e) {
        mounting.throwIfAborted()
        const error = rethrowBug(e)
        problems.push(error)
        const { step = 'SetUp', volume: name = volume.name } = error.details
        const message = `MountVolume.${String(step)} failed for volume "${String(name)}" : ${error.message}`
        c.events.pod(spec.pod, { type: 'Warning', reason: 'FailedMount', message })
      }
    if (problems.length > 0)
      throw keelsonError(
        'pod.volume',
        `mount volumes: ${problems.map(({ message }) => message).join('; ')}`,
        {},
        problems[0],
      )
    return mounted
  }

  const refresh = async (uid: string, entry: Entry): Promise<void> => {
    const { spec } = entry
    try {
      await mountAll(spec, spec.volumes.filter(isFileVolume), signal)
    } catch (e) {
      if (signal.aborted) return
      const error = asKeelsonError(e)
      if (error.code === 'internal.unexpected') throw e
      c.log.warn('failed to refresh volumes; the old content stays', {
        pod: `${spec.pod.namespace}/${spec.pod.name}`,
        uid,
        error,
      })
    }
  }

  const run = async (): Promise<void> => {
    const stopListening = c.objects?.onChange((uids) => {
      const soon = clock.monotonicNanos() + settleNanos
      for (const uid of uids) {
        const entry = entries.get(uid)
        if (entry !== undefined && entry.dueNanos > soon) entry.dueNanos = soon
      }
      wake.notify()
    })
    while (!signal.aborted) {
      const now = clock.monotonicNanos()
      const due = [...entries].filter(([, entry]) => entry.dueNanos <= now)
      for (let from = 0; from < due.length; from += refreshesAtOnce)
        await Promise.all(
          due.slice(from, from + refreshesAtOnce).map(async ([uid, entry]) => {
            if (entries.get(uid) !== entry) return
            entry.dueNanos = nextSync()
            entry.running = refresh(uid, entry)
            await entry.running
            entry.running = undefined
          }),
        )
      const next = [...entries.values()].map(({ dueNanos }) => dueNanos)
      const until = next.reduce(
        (a, b) => (a < b ? a : b),
        clock.monotonicNanos() + BigInt(syncMs) * 1_000_000n,
      )
      await wake.sleep(until, signal)
    }
    stopListening?.()
  }

  return {
    async mount(spec, mounting) {
      c.objects?.register(spec.pod, podReferences(spec))
      const mounted = await mountAll(spec, spec.volumes, mounting)
      const running = entries.get(spec.pod.uid)?.running
      entries.set(spec.pod.uid, { spec, mounted, dueNanos: nextSync(), running })
      wake.notify()
    },
    mounted: (uid) => entries.get(uid)?.mounted ?? new Map(),
    update(spec) {
      const entry = entries.get(spec.pod.uid)
      if (entry === undefined) return
      c.objects?.register(spec.pod, podReferences(spec))
      entry.spec = spec
      entry.dueNanos = clock.monotonicNanos()
      wake.notify()
    },
    async release(uid) {
      c.objects?.release(uid)
      const running = entries.get(uid)?.running
      entries.delete(uid)
      await running?.catch(() => undefined)
    },
    done: run(),
  }
}
