// One cgroup of the pod trees with its memory files, seen twice a moment apart, and what the pair says.

/** What moves between two looks. */
export interface Activity {
  readonly current: bigint
  /** `high` and `oom_kill` of memory.events. */
  readonly highEvents: bigint
  readonly oomKills: bigint
  readonly cpuMicros: bigint
  /** `full avg10` of memory.pressure; undefined: the kernel has no PSI. */
  readonly fullAvg10: number | undefined
}

export interface PodCgroup {
  readonly path: string
  /** Undefined: a child of the root. */
  readonly parent: string | undefined
  /** Of the container or sandbox that it belongs to. */
  readonly containerId: string | undefined
  readonly min: bigint
  readonly low: bigint
  readonly high: bigint | 'max'
  readonly max: bigint | 'max'
  readonly populated: boolean
  readonly before: Activity
  readonly after: Activity
}

/** The KEP's thresholds (KEP-2570, monitoring and failure modes). */
const significantAvg10 = 5
const livelockAvg10 = 10
const nearHighPercent = 95n
/** "CPU near zero": less than one percent of one CPU. */
const idleShare = 0.01

const isHighRising = ({ before, after }: PodCgroup): boolean => after.highEvents > before.highEvents

export const isNearHigh = ({ high, after }: PodCgroup): boolean =>
  high !== 'max' && after.current * 100n >= high * nearHighPercent

/** With PSI its value decides; without, a rising count of throttle events at the threshold does. */
export const isThrottled = (c: PodCgroup): boolean =>
  c.after.fullAvg10 === undefined ? isHighRising(c) && isNearHigh(c) : c.after.fullAvg10 > significantAvg10

const isIdle = ({ before, after }: PodCgroup, intervalMs: number): boolean =>
  Number(after.cpuMicros - before.cpuMicros) < intervalMs * 1000 * idleShare

/** Sustained pressure, throttle events that go on, and no CPU time used: the processes do not get on. */
export const isLivelocked = (c: PodCgroup, intervalMs: number): boolean =>
  c.populated &&
  isHighRising(c) &&
  isIdle(c, intervalMs) &&
  [c.before, c.after].every((a) => a.fullAvg10 === undefined || a.fullAvg10 > livelockAvg10)
