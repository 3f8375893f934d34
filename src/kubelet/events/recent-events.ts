// The last events of each pod, kept here for `keelson describe pod`: a node may write events and not read them, and a standalone
// kubelet has no place for them at all. Bounded by pods and by events of a pod.
import type { PodEventJson } from '../../serve/endpoints/pod-events.js'

interface Recorded extends Pick<PodEventJson, 'type' | 'reason' | 'message'> {
  readonly container?: { readonly name: string }
}

/** As many as the largest nodes run: 4 kB for each, also of pods that have gone. */
const maxPods = 500
const maxEvents = 20

export class RecentEvents {
  private readonly byPod = new Map<string, PodEventJson[]>()

  add(uid: string, { type, reason, message, container }: Recorded, nowMs: number): void {
    const events = this.byPod.get(uid) ?? []
    const isSame = (e: PodEventJson): boolean =>
      e.reason === reason && e.message === message && e.container === container?.name
    const before = events.find(isSame)
    const lastTimestamp = new Date(nowMs).toISOString()
    const event: PodEventJson = {
      type,
      reason,
      message: message.slice(0, 1024),
      ...(container === undefined ? {} : { container: container.name }),
      count: (before?.count ?? 0) + 1,
      lastTimestamp,
    }
    this.byPod.delete(uid)
    this.byPod.set(uid, [...events.filter((e) => e !== before), event].slice(-maxEvents))
    if (this.byPod.size <= maxPods) return
    for (const oldest of this.byPod.keys()) {
      this.byPod.delete(oldest)
      return
    }
  }

  /** The newest last. */
  of(uid: string): readonly PodEventJson[] {
    return this.byPod.get(uid) ?? []
  }
}
