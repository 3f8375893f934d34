// What the node itself can give back before a pod is evicted, and which pods may be evicted at all.
import { isCriticalPod, isStaticPod, type PodResources } from '../../../core/pod/pod.js'
import type { DiskLayout } from '../../../stats/pressure.js'
import type { Signal } from './signals.js'
import type { Threshold } from './thresholds.js'

export type Reclaim = 'containers' | 'images'

/** In the order in which they are tried. */
export function reclaimFor(signal: Signal, layout: DiskLayout): readonly Reclaim[] {
  const [fs = ''] = signal.split('.')
  if (!['nodefs', 'imagefs', 'containerfs'].includes(fs)) return []
  if (layout === 'one') return ['containers', 'images']
  // Logs and volumes are all that pods have on a nodefs of its own.
  if (layout === 'images') return fs === 'nodefs' ? [] : ['containers', 'images']
  return fs === 'imagefs' ? ['images'] : ['containers']
}

/** Static and critical pods are what the node is for; evictStaticPods allows static pods that are not critical by priority. */
export const isEvictable = (pod: PodResources, evictStaticPods: boolean): boolean =>
  !isCriticalPod(pod) ||
  (evictStaticPods && isStaticPod(pod) && !isCriticalPod({ ...pod, annotations: new Map() }))

/** Seconds that the pod gets to end. */
export const evictionGrace = (
  { graceMs }: Threshold,
  maxPodGraceSeconds: number,
  podGraceSeconds: number,
): number => (graceMs === 0 ? hardGraceSeconds : Math.max(0, Math.min(maxPodGraceSeconds, podGraceSeconds)))

export const hardGraceSeconds = 1
