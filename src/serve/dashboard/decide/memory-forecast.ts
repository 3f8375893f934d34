// What the kernel does to a cgroup's memory now, or next when it grows: the sentence under every bar of the dashboard.
// The kernel compares memory.current, not the working set, with memory.high and memory.max.

import type { LiveNext } from '../../../core/dashboard/model.js'
import { humanBytes } from '../../../core/units/human-bytes.js'

export interface MemoryForecastInput {
  readonly usage: bigint
  readonly min?: bigint | undefined
  readonly low?: bigint | undefined
  /** Undefined: none, or the kernel has no such file. */
  readonly high?: bigint | undefined
  readonly max?: bigint | undefined
  /** memory.events counts everything below as well. */
  readonly throttlesPerSecond?: number | undefined
}

const calm = (text: string): LiveNext => ({ level: 'calm', text })
const watch = (text: string): LiveNext => ({ level: 'watch', text })
const act = (text: string): LiveNext => ({ level: 'act', text })

/** From this share of a threshold on, the level is `watch`. */
const near = { at: 90n, of: 100n }
const isNear = (usage: bigint, threshold: bigint): boolean => usage * near.of >= threshold * near.at
/** Here the next allocation already has to reclaim. */
const isAt = (usage: bigint, threshold: bigint): boolean => usage * 100n >= threshold * 98n

export const unknownForecast: LiveNext = calm('no memory values')

export function decideMemoryForecast(i: MemoryForecastInput): LiveNext {
  const { usage, high, max } = i
  const min = i.min ?? 0n
  const low = i.low ?? 0n
  if ((i.throttlesPerSecond ?? 0) > 0)
    return act(
      high === undefined
        ? 'throttled: a cgroup inside is above its memory.high; its tasks are slowed down while memory is reclaimed'
        : `throttled now at memory.high ${humanBytes(high)}: its tasks are slowed down while memory is reclaimed`,
    )
  if (max !== undefined && isAt(usage, max))
    return act(`at its limit ${humanBytes(max)}: OOM kill if the kernel cannot reclaim memory`)
  if (high !== undefined && usage >= high)
    return act(`above memory.high ${humanBytes(high)}: it is throttled as soon as it allocates`)
  if (high !== undefined && isNear(usage, high))
    return watch(`${humanBytes(high - usage)} until it is throttled at memory.high ${humanBytes(high)}`)
  if (max !== undefined && isNear(usage, max))
    return watch(
      `${humanBytes(max - usage)} until its limit ${humanBytes(max)}; then reclaim, and an OOM kill if that fails`,
    )
  if (min > 0n && usage <= min)
    return calm(`protected: all of it is within memory.min ${humanBytes(min)} and is never reclaimed`)
  if (low > 0n && usage <= low)
    return calm(`protected by memory.low ${humanBytes(low)} while other cgroups have reclaimable memory`)
  if (high !== undefined)
    return calm(`${humanBytes(high - usage)} below memory.high ${humanBytes(high)}, where throttling begins`)
  if (max !== undefined) return calm(`${humanBytes(max - usage)} below its limit ${humanBytes(max)}`)
  return calm('no limits or thresholds: reclaimed when the node is short of memory')
}
