// Pods that the API server has bound to this node, followed by one watch. A change of what is wanted is handed on at once; a
// change of the status alone only replaces the object that statuses are compared with (pods/status).
import type { KubeObject, KubePod } from '../../../core/kube/objects.js'
import { collectionPath, pods as podsResource } from '../../../core/kube/path.js'
import { formatTimeNano } from '../../../core/units/rfc3339.js'
import type { Clock } from '../../../ports/clock.js'
import type { KubeApi } from '../../../ports/kube-api.js'
import { configSeen } from '../decide/static-pod.js'
import { isMirrorPod, readApiPod, type WantedPod, wantsTheSame } from '../decide/wanted-pod.js'
import { LatestValue } from './latest-value.js'

interface ApiSourceOptions {
  readonly api: Pick<KubeApi, 'follow'>
  readonly clock: Pick<Clock, 'nowNanos'>
  readonly nodeName: string
  /** A mirror of a static pod has changed. */
  readonly onMirror?: (uid: string) => void
}

/** What is known of pods in the API server, for those who write there. */
export interface ApiPods {
  /** The newest object that was heard of; undefined: the API server has no such pod on this node. */
  object(uid: string): KubePod | undefined
  /** The answer to a write. */
  heard(object: KubePod): void
  uids(): readonly string[]
}

export class ApiSource implements ApiPods {
  private readonly wanted = new Map<string, WantedPod>()
  private readonly objects = new Map<string, KubePod>()
  private readonly latest = new LatestValue<ReadonlyMap<string, WantedPod>>()

  constructor(private readonly o: ApiSourceOptions) {}

  object(uid: string): KubePod | undefined {
    return this.objects.get(uid)
  }

  heard(object: KubePod): void {
    const uid = object.metadata?.uid ?? ''
    if (this.objects.has(uid)) this.objects.set(uid, object)
  }

  mirrors(): readonly KubePod[] {
    return [...this.objects.values()].filter(isMirrorPod)
  }

  uids(): readonly string[] {
    return [...this.objects.keys()]
  }

  /** Each time what is wanted has changed; first after the first list. */
  watch(signal: AbortSignal): AsyncIterable<ReadonlyMap<string, WantedPod>> {
    return this.latest.values(signal)
  }

  /** Until the signal is aborted. */
  follow(signal: AbortSignal): Promise<void> {
    return this.o.api.follow(
      collectionPath(podsResource),
      { fieldSelector: `spec.nodeName=${this.o.nodeName}` },
      {
        replace: (objects) => this.replace(objects),
        put: (object) => {
          if (this.put(object)) this.emit()
        },
        remove: ({ metadata }) => {
          if (this.drop(metadata?.uid ?? '')) this.emit()
        },
      },
      signal,
    )
  }

  private replace(objects: readonly KubeObject[]): void {
    const listed = new Set(objects.map(({ metadata }) => metadata?.uid))
    for (const uid of [...this.objects.keys()]) if (!listed.has(uid)) this.drop(uid)
    for (const object of objects) this.put(object)
    this.emit()
  }

  /** Whether something else is wanted now. */
  private put(object: KubePod): boolean {
    const uid = object.metadata?.uid ?? ''
    const before = this.wanted.get(uid)
    if (before?.api !== undefined && wantsTheSame(before.api, object)) {
      this.objects.set(uid, object)
      return false
    }
    const seenAt = before?.spec?.pod.annotations.get(configSeen) ?? formatTimeNano(this.o.clock.nowNanos())
    const now = readApiPod(object, seenAt)
    if (now === undefined) return false
    this.objects.set(uid, object)
    // A mirror shows a static pod of this node: there is nothing to run.
    if (isMirrorPod(object)) {
      this.o.onMirror?.(uid)
      return false
    }
    this.wanted.set(uid, now)
    return true
  }

  private drop(uid: string): boolean {
    const gone = this.objects.get(uid)
    this.objects.delete(uid)
    if (gone !== undefined && isMirrorPod(gone)) this.o.onMirror?.(uid)
    return this.wanted.delete(uid)
  }

  private emit(): void {
    this.latest.set(new Map(this.wanted))
  }
}
