// Block I/O by device. v2: io.stat. v1: the throttle files of blkio, and CFQ's files where an old kernel has them.
// On v2 the node has the disk-time families, from /proc/diskstats.
import type { DiskStats } from '../../core/kernel-text/diskstats.js'
import { type NestedKeyed, parseBlkio, parseNestedKeyed } from '../../core/kernel-text/nested-keyed.js'
import { diskFamilies } from '../catalogue/disk.js'
import type { Emit, Family } from '../catalogue/family.js'
import { byVersion, type CollectContext, type Collector, type ReadValues } from './collector.js'
import type { Device } from './device.js'

interface DeviceValues {
  readonly device: Device
  /** Bytes by operation, named as in the file. */
  readonly operations: ReadonlyMap<string, bigint>
  readonly readBytes: bigint | undefined
  readonly writeBytes: bigint | undefined
  readonly reads: bigint | undefined
  readonly writes: bigint | undefined
  /** The io.cost controller, in nanoseconds. */
  readonly cost: Partial<Readonly<Record<CostKey, bigint>>>
  readonly times: Partial<Readonly<Record<TimeKey, bigint>>>
}

const costFamilies = {
  'cost.usage': diskFamilies.container_fs_io_cost_usage_seconds_total,
  'cost.wait': diskFamilies.container_fs_io_cost_wait_seconds_total,
  'cost.indebt': diskFamilies.container_fs_io_cost_indebt_seconds_total,
  'cost.indelay': diskFamilies.container_fs_io_cost_indelay_seconds_total,
} as const
type CostKey = keyof typeof costFamilies
const costKeys = Object.keys(costFamilies) as CostKey[]

const timeFamilies = {
  ioCurrent: diskFamilies.container_fs_io_current,
  ioNanos: diskFamilies.container_fs_io_time_seconds_total,
  weightedNanos: diskFamilies.container_fs_io_time_weighted_seconds_total,
  readNanos: diskFamilies.container_fs_read_seconds_total,
  writeNanos: diskFamilies.container_fs_write_seconds_total,
  readsMerged: diskFamilies.container_fs_reads_merged_total,
  writesMerged: diskFamilies.container_fs_writes_merged_total,
  sectorsRead: diskFamilies.container_fs_sector_reads_total,
  sectorsWritten: diskFamilies.container_fs_sector_writes_total,
} as const
type TimeKey = keyof typeof timeFamilies
const timeKeys = Object.keys(timeFamilies) as TimeKey[]

const nanosFromMicros = (micros: bigint): bigint => micros * 1_000n
const nanosFromMillis = (millis: bigint): bigint => millis * 1_000_000n

function deviceV2(device: Device, row: ReadonlyMap<string, bigint>): DeviceValues {
  const readBytes = row.get('rbytes') ?? 0n
  const writeBytes = row.get('wbytes') ?? 0n
  const cost: Partial<Record<CostKey, bigint>> = {}
  for (const key of costKeys) {
    const micros = row.get(key)
    if (micros !== undefined) cost[key] = nanosFromMicros(micros)
  }
  return {
    device,
    operations: new Map([
      ['Read', readBytes],
      ['Write', writeBytes],
    ]),
    readBytes,
    writeBytes,
    reads: row.get('rios') ?? 0n,
    writes: row.get('wios') ?? 0n,
    cost,
    times: {},
  }
}

const readV2: ReadValues<readonly DeviceValues[]> = (path, _scope, { cgroups, device }) => {
  const text = cgroups.read(path, 'io.stat')
  if (text === undefined || text.length === 0) return undefined
  return [...parseNestedKeyed(text)].map(([majorMinor, row]) => deviceV2(device(majorMinor), row))
}

const blkio = ({ cgroups }: CollectContext, path: string, file: string): NestedKeyed | undefined => {
  const text = cgroups.read(path, file)
  return text === undefined ? undefined : parseBlkio(text)
}

const readV1: ReadValues<readonly DeviceValues[]> = (path, scope, context) => {
  // The root's own files have only what no other cgroup did; these are the node's.
  const whole = (file: string): NestedKeyed | undefined =>
    scope === 'node' ? blkio(context, path, `${file}_recursive`) : undefined
  const [bytesFile, countFile] = ['blkio.throttle.io_service_bytes', 'blkio.throttle.io_serviced']
  const bytes = whole(bytesFile) ?? blkio(context, path, bytesFile)
  const count = whole(countFile) ?? blkio(context, path, countFile)
  if (bytes === undefined && count === undefined) return undefined
  // These went with CFQ in 5.0; the first one says whether the others are worth asking for.
  const time = blkio(context, path, 'blkio.io_service_time_recursive')
  const merged = time && blkio(context, path, 'blkio.io_merged_recursive')
  const sectors = time && blkio(context, path, 'blkio.sectors_recursive')
  const queued = time && blkio(context, path, 'blkio.io_queued_recursive')
  const names = new Set([...(bytes?.keys() ?? []), ...(count?.keys() ?? [])])
  return [...names].map((majorMinor) => {
    const b = bytes?.get(majorMinor)
    const c = count?.get(majorMinor)
    const all: Partial<Record<TimeKey, bigint | undefined>> = {
      ioCurrent: queued?.get(majorMinor)?.get('Total'),
      ioNanos: time?.get(majorMinor)?.get('Total'),
      readNanos: time?.get(majorMinor)?.get('Read'),
      writeNanos: time?.get(majorMinor)?.get('Write'),
      readsMerged: merged?.get(majorMinor)?.get('Read'),
      writesMerged: merged?.get(majorMinor)?.get('Write'),
      sectorsRead: sectors?.get(majorMinor)?.get('Read'),
      sectorsWritten: sectors?.get(majorMinor)?.get('Write'),
    }
    const times: Partial<Record<TimeKey, bigint>> = {}
    for (const key of timeKeys) {
      const value = all[key]
      if (value !== undefined) times[key] = value
    }
    return {
      device: context.device(majorMinor),
      operations: b ?? new Map(),
      readBytes: b && (b.get('Read') ?? 0n),
      writeBytes: b && (b.get('Write') ?? 0n),
      reads: c && (c.get('Read') ?? 0n),
      writes: c && (c.get('Write') ?? 0n),
      cost: {},
      times,
    }
  })
}

/** Disk time of the whole machine: v2 keeps none for a cgroup. */
export const diskTimes = (stats: readonly DiskStats[], device: (mm: string) => Device): DeviceValues[] =>
  stats
    .filter((s) => s.readsCompleted > 0n || s.writesCompleted > 0n)
    .map((s) => ({
      device: device(s.majorMinor),
      operations: new Map(),
      readBytes: undefined,
      writeBytes: undefined,
      reads: undefined,
      writes: undefined,
      cost: {},
      times: {
        ioCurrent: s.inProgress,
        ioNanos: nanosFromMillis(s.ioMillis),
        weightedNanos: nanosFromMillis(s.weightedIoMillis),
        readNanos: nanosFromMillis(s.readMillis),
        writeNanos: nanosFromMillis(s.writeMillis),
        readsMerged: s.readsMerged,
        writesMerged: s.writesMerged,
        sectorsRead: s.sectorsRead,
        sectorsWritten: s.sectorsWritten,
      },
    }))

const f = diskFamilies

function emitDevice(d: DeviceValues, emit: Emit): void {
  const { labels } = d.device
  const known = (family: Family, value: bigint | undefined): void => {
    if (value !== undefined) emit(family, value, labels)
  }
  for (const [word, value] of d.operations)
    emit(f.container_blkio_device_usage_total, value, d.device.operation(word))
  known(f.container_fs_reads_bytes_total, d.readBytes)
  known(f.container_fs_writes_bytes_total, d.writeBytes)
  known(f.container_fs_reads_total, d.reads)
  known(f.container_fs_writes_total, d.writes)
  for (const key of costKeys) known(costFamilies[key], d.cost[key])
  for (const key of timeKeys) known(timeFamilies[key], d.times[key])
}

export const diskIo: Collector<readonly DeviceValues[]> = {
  read(path, scope, context) {
    // The families belong to containers; a pod's own cgroup adds nothing that its containers do not have.
    return scope === 'pod' ? undefined : byVersion(readV2, readV1)(path, scope, context)
  },
  emit(devices, emit) {
    for (const device of devices) emitDevice(device, emit)
  },
}
