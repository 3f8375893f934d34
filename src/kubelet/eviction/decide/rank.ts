// In which order pods are evicted for a signal: upstream's order. A pod that uses more than it asked for goes before one that
// does not, then the lower priority, then the larger excess.
import type { PodResources } from '../../../core/pod/pod.js'
import { podRequests } from '../../../core/pod/resources.js'
import { quantityValue } from '../../../core/units/quantity.js'
import type { DiskLayout } from '../../../stats/pressure.js'
import type { DiskUse, PodUse } from './pod-usage.js'
import { resourceOf, type Signal } from './signals.js'

type DiskPart = 'rootfs' | 'logs' | 'volumes'

/** Which of a pod's files are on the file system of the signal. */
function partsFor(signal: Signal, layout: DiskLayout): readonly DiskPart[] {
  if (layout === 'one') return ['rootfs', 'logs', 'volumes']
  const ofNode = signal.startsWith('nodefs.')
  if (layout === 'images') return ofNode ? ['logs', 'volumes'] : ['rootfs']
  return signal.startsWith('imagefs.') ? [] : ['logs', 'volumes', 'rootfs']
}

function diskOf(use: PodUse, parts: readonly DiskPart[]): DiskUse {
  const all = [
    ...use.containers.flatMap((c) => [
      ...(parts.includes('rootfs') ? [c.rootfs] : []),
      ...(parts.includes('logs') ? [c.logs] : []),
    ]),
    ...(parts.includes('volumes') ? use.volumes.values() : []),
  ]
  return all.reduce<DiskUse>(
    (sum, part) => ({ bytes: sum.bytes + (part?.bytes ?? 0n), inodes: sum.inodes + (part?.inodes ?? 0n) }),
    { bytes: 0n, inodes: 0n },
  )
}

const requestOf = (pod: PodResources, name: string): bigint => {
  const request = podRequests(pod).get(name)
  return request === undefined ? 0n : quantityValue(request)
}

interface Ranked<P> {
  readonly entry: P
  readonly exceeds: boolean
  readonly priority: number
  readonly excess: bigint
}

/** The first is to be evicted first; pods of equal rank keep their order. Pods without values are left out: they may use nothing. */
export function rankPods<P extends { readonly pod: PodResources }>(
  pods: readonly P[],
  uses: ReadonlyMap<string, PodUse>,
  signal: Signal,
  layout: DiskLayout,
): readonly P[] {
  const ranked = pods.flatMap((entry): Ranked<P>[] => {
    const use = uses.get(entry.pod.uid)
    return use === undefined
      ? []
      : [{ entry, priority: entry.pod.priority ?? 0, ...excessOf(entry.pod, use, signal, layout) }]
  })
  return ranked
    .sort(
      (a, b) => trueFirst(a.exceeds, b.exceeds) || a.priority - b.priority || largerFirst(a.excess, b.excess),
    )
    .map(({ entry }) => entry)
}

function excessOf(
  pod: PodResources,
  use: PodUse,
  signal: Signal,
  layout: DiskLayout,
): { readonly exceeds: boolean; readonly excess: bigint } {
  const over = (used: bigint, request: bigint) => ({ exceeds: used > request, excess: used - request })
  const inodesOver = (used: bigint, request: bigint) => ({ exceeds: used > 0n, excess: used - request })
  switch (resourceOf[signal]) {
    case 'memory':
      return over(use.memoryBytes ?? 0n, requestOf(pod, 'memory'))
    case 'ephemeral-storage':
      return over(diskOf(use, partsFor(signal, layout)).bytes, requestOf(pod, 'ephemeral-storage'))
    case 'inodes':
      // As upstream: none asks for inodes, and what counts as excess is still lowered by the request for bytes.
      return inodesOver(diskOf(use, partsFor(signal, layout)).inodes, requestOf(pod, 'ephemeral-storage'))
    case 'pids':
      // No pod asks for processes: the priority decides, then their number.
      return { exceeds: false, excess: use.processes ?? 0n }
  }
}

const trueFirst = (a: boolean, b: boolean): number => Number(b) - Number(a)
const largerFirst = (a: bigint, b: bigint): number => (a > b ? -1 : a < b ? 1 : 0)
