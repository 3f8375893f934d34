// Thresholds from the configuration, and which of them are met.
import { parseEvictionThreshold } from '../../../core/plan/allocatable.js'
import { bytes } from '../../../core/units/bytes.js'
import type { DiskLayout } from '../../../stats/pressure.js'
import type { Observations } from './observations.js'
import { isSignal, type Signal } from './signals.js'

export interface Threshold {
  readonly signal: Signal
  /** `100Mi` or `10%`. */
  readonly value: string
  /** 0: hard. */
  readonly graceMs: number
  readonly minReclaim: string | undefined
}

interface EvictionFields {
  readonly evictionHard: Readonly<Record<string, string>>
  readonly evictionSoft: Readonly<Record<string, string>>
  readonly evictionSoftGracePeriod: Readonly<Record<string, number>>
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>
  readonly enforceNodeAllocatable: readonly string[]
}

const isHard = ({ graceMs }: Threshold): boolean => graceMs === 0

/** `0%`, `100%` and `0` switch a threshold off. */
const isOff = (value: string): boolean => parseEvictionThreshold(value, bytes(2n ** 40n)) === 0n

/** Without those of containerfs, which depend on the disks of the node. */
export function configuredThresholds(fields: EvictionFields): readonly Threshold[] {
  const from = (values: Readonly<Record<string, string>>, graceOf: (signal: string) => number): Threshold[] =>
    Object.entries(values).flatMap(([signal, value]) =>
      isSignal(signal) && !signal.startsWith('containerfs.') && !isOff(value)
        ? [{ signal, value, graceMs: graceOf(signal), minReclaim: fields.evictionMinimumReclaim[signal] }]
        : [],
    )
  const all = [
    ...from(fields.evictionHard, () => 0),
    ...from(fields.evictionSoft, (signal) => fields.evictionSoftGracePeriod[signal] ?? 0),
  ]
  if (!fields.enforceNodeAllocatable.includes('pods')) return all
  const ofPods = all
    .filter((t) => t.signal === 'memory.available' && isHard(t))
    .map((t): Threshold => ({ ...t, signal: 'allocatableMemory.available' }))
  return [...all, ...ofPods]
}

/** containerfs has the thresholds of the file system that the writable layers are on. */
export function withContainerFs(thresholds: readonly Threshold[], layout: DiskLayout): readonly Threshold[] {
  const from = layout === 'images' ? 'imagefs.' : 'nodefs.'
  const added = thresholds
    .filter(({ signal }) => signal.startsWith(from))
    .map((t): Threshold => ({ ...t, signal: t.signal.replace(from, 'containerfs.') as Signal }))
  return [...thresholds, ...added]
}

/** The amount that must be available. */
export const thresholdAmount = (value: string, capacity: bigint): bigint =>
  parseEvictionThreshold(value, bytes(capacity))

/** Met: less is available than the threshold, or, to resolve one that was met before, than threshold and minimum reclaim. */
export function thresholdsMet(
  thresholds: readonly Threshold[],
  observations: Observations,
  withMinReclaim: boolean,
): readonly Threshold[] {
  return thresholds.filter(({ signal, value, minReclaim }) => {
    const seen = observations.get(signal)
    if (seen === undefined) return false
    const more = withMinReclaim && minReclaim !== undefined ? thresholdAmount(minReclaim, seen.capacity) : 0n
    return seen.available < thresholdAmount(value, seen.capacity) + more
  })
}
