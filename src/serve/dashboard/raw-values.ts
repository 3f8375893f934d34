// The counters of one cgroup that a live view needs, read from as few files as will do: a view reads everything every
// second or two. /metrics/cadvisor has the full set.
import { readControl, readCount, readCountOrMax } from '../../core/cgroup/control-file.js'
import { createFlatKeyedParser } from '../../core/kernel-text/flat-keyed.js'
import { parseNestedKeyed } from '../../core/kernel-text/nested-keyed.js'
import { type Pressure, parsePressure } from '../../core/kernel-text/pressure.js'
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import { workingSet } from '../../stats/collectors/memory-values.js'

export type Threshold = bigint | 'max' | undefined

interface Thresholds {
  readonly min: Threshold
  readonly low: Threshold
  readonly high: Threshold
  readonly max: Threshold
}

export interface RawMemory extends Thresholds {
  readonly timeNanos: bigint
  readonly usage: bigint
  readonly workingSet: bigint
  readonly cache: bigint | undefined
  readonly highEvents: bigint | undefined
  readonly maxEvents: bigint | undefined
  readonly oomKills: bigint | undefined
}

export interface RawCpu {
  readonly timeNanos: bigint
  readonly usageNanos: bigint
  readonly periods: bigint
  readonly throttledPeriods: bigint
}

export interface RawPressure {
  readonly cpu: Pressure | undefined
  readonly memory: Pressure | undefined
  readonly io: Pressure | undefined
}

export interface RawIo {
  readonly timeNanos: bigint
  readonly readBytes: bigint
  readonly writeBytes: bigint
}

export interface RawValues {
  readonly memory: RawMemory | undefined
  readonly cpu: RawCpu | undefined
  readonly pressure: RawPressure | undefined
  readonly io: RawIo | undefined
}

/** What is read of a cgroup. Thresholds change rarely. */
export type ValuePart = 'memory' | 'thresholds' | 'cpu' | 'pressure' | 'io'
export const allParts: ReadonlySet<ValuePart> = new Set<ValuePart>([
  'memory',
  'thresholds',
  'cpu',
  'pressure',
  'io',
])

type Reader = Pick<CgroupTree, 'read' | 'version'>

const memoryStat = createFlatKeyedParser(['file', 'inactive_file'])
const memoryStatV1 = createFlatKeyedParser(['total_cache', 'total_inactive_file'])
const memoryEvents = createFlatKeyedParser(['high', 'max', 'oom_kill'])
const cpuStat = createFlatKeyedParser(['usage_usec', 'nr_periods', 'nr_throttled'])
/** v1 writes the largest multiple of the page size for "no limit". */
const noLimitV1 = 2n ** 62n

const readThresholds = (cgroups: Reader, path: CgroupPath): Thresholds => ({
  min: readCountOrMax(cgroups, path, 'memory.min'),
  low: readCountOrMax(cgroups, path, 'memory.low'),
  high: readCountOrMax(cgroups, path, 'memory.high'),
  max: readCountOrMax(cgroups, path, 'memory.max'),
})

function readMemoryV2(
  cgroups: Reader,
  path: CgroupPath,
  timeNanos: bigint,
  thresholds: Thresholds | undefined,
): RawMemory | undefined {
  const usage = readCount(cgroups, path, 'memory.current')
  if (usage === undefined) return undefined
  const stat = readControl(cgroups, path, 'memory.stat', memoryStat)
  const events = readControl(cgroups, path, 'memory.events', memoryEvents)
  const { min, low, high, max } = thresholds ?? readThresholds(cgroups, path)
  return {
    timeNanos,
    usage,
    workingSet: workingSet(usage, stat?.inactive_file ?? 0n),
    cache: stat?.file,
    min,
    low,
    high,
    max,
    highEvents: events && (events.high ?? 0n),
    maxEvents: events && (events.max ?? 0n),
    oomKills: events && (events.oom_kill ?? 0n),
  }
}

function readMemoryV1(cgroups: Reader, path: CgroupPath, timeNanos: bigint): RawMemory | undefined {
  const usage = readCount(cgroups, path, 'memory.usage_in_bytes')
  if (usage === undefined) return undefined
  const stat = readControl(cgroups, path, 'memory.stat', memoryStatV1)
  const limit = readCount(cgroups, path, 'memory.limit_in_bytes')
  return {
    timeNanos,
    usage,
    workingSet: workingSet(usage, stat?.total_inactive_file ?? 0n),
    cache: stat?.total_cache,
    min: undefined,
    low: undefined,
    high: undefined,
    max: limit !== undefined && limit >= noLimitV1 ? 'max' : limit,
    highEvents: undefined,
    maxEvents: undefined,
    oomKills: undefined,
  }
}

function readCpu(cgroups: Reader, path: CgroupPath, timeNanos: bigint): RawCpu | undefined {
  const stat = readControl(cgroups, path, 'cpu.stat', cpuStat)
  const usageNanos =
    cgroups.version === 'v2'
      ? stat?.usage_usec === undefined
        ? undefined
        : stat.usage_usec * 1_000n
      : readCount(cgroups, path, 'cpuacct.usage')
  if (usageNanos === undefined) return undefined
  return {
    timeNanos,
    usageNanos,
    periods: stat?.nr_periods ?? 0n,
    throttledPeriods: stat?.nr_throttled ?? 0n,
  }
}

function readPressure(cgroups: Reader, path: CgroupPath): RawPressure | undefined {
  const one = (file: string): Pressure | undefined => readControl(cgroups, path, file, parsePressure)
  const memory = one('memory.pressure')
  if (memory === undefined) return undefined
  return { cpu: one('cpu.pressure'), memory, io: one('io.pressure') }
}

function readIo(cgroups: Reader, path: CgroupPath, timeNanos: bigint): RawIo | undefined {
  const devices = readControl(cgroups, path, 'io.stat', parseNestedKeyed)
  if (devices === undefined) return undefined
  let readBytes = 0n
  let writeBytes = 0n
  for (const row of devices.values()) {
    readBytes += row.get('rbytes') ?? 0n
    writeBytes += row.get('wbytes') ?? 0n
  }
  return { timeNanos, readBytes, writeBytes }
}

/** Parts that are not asked for stay as they were. Undefined: there is no such cgroup (any more). */
export function readRawValues(
  cgroups: Reader,
  path: CgroupPath,
  timeNanos: bigint,
  before?: RawValues,
  wanted: ReadonlySet<ValuePart> = allParts,
): RawValues | undefined {
  const isV2 = cgroups.version === 'v2'
  const parts = before === undefined ? allParts : wanted
  const thresholds = parts.has('thresholds') ? undefined : before?.memory
  const memory = !parts.has('memory')
    ? before?.memory
    : isV2
      ? readMemoryV2(cgroups, path, timeNanos, thresholds)
      : readMemoryV1(cgroups, path, timeNanos)
  const cpu = parts.has('cpu') ? readCpu(cgroups, path, timeNanos) : before?.cpu
  if ((memory === undefined && cpu === undefined) || !isThere(parts, memory, cpu, cgroups, path))
    return undefined
  if (!isV2) return { memory, cpu, pressure: undefined, io: undefined }
  return {
    memory,
    cpu,
    pressure: parts.has('pressure') ? readPressure(cgroups, path) : before?.pressure,
    io: parts.has('io') ? readIo(cgroups, path, timeNanos) : before?.io,
  }
}

/** Kept parts do not prove that the cgroup still exists. */
function isThere(
  parts: ReadonlySet<ValuePart>,
  memory: RawMemory | undefined,
  cpu: RawCpu | undefined,
  cgroups: Reader,
  path: CgroupPath,
): boolean {
  if (parts.has('memory') && memory !== undefined) return true
  if (parts.has('cpu') && cpu !== undefined) return true
  return cgroups.read(path, cgroups.version === 'v2' ? 'cgroup.procs' : 'tasks') !== undefined
}
