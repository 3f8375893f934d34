// The runtime's values with ours in the gaps. What it gave stays, apart from the defects that are known of it; unknown
// fields stay too.
import type {
  ContainerStats,
  CpuUsage,
  LinuxPodSandboxStats,
  MemoryUsage,
  NetworkUsage,
  PodSandboxStats,
  ProcessUsage,
  SwapUsage,
  UInt64Value,
} from '../../cri-api/api.js'
import type { Repair } from '../../stats/repair/repairs.js'
import type { KernelValues } from '../../stats/repair/value-rules.js'
import type { NodeView } from './node-view.js'
import { containerStatsOf, podStatsOf } from './own-stats.js'
import { noInterface } from './to-cri.js'

/** A message without a time, or a list without items, says nothing. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === 0n || (Array.isArray(value) && value.length === 0)

/** Field by field; the runtime's values win. */
function fill<T extends object>(given: T | undefined, ours: T | undefined): T | undefined {
  if (given === undefined || ours === undefined) return given ?? ours
  return Object.assign(
    {},
    ours,
    Object.fromEntries(Object.entries(given).filter(([, value]) => !isNothing(value))),
  )
}

const isZero = (wrapped: { readonly value: bigint } | undefined): boolean => wrapped?.value === 0n

/** Fields in which `given` contradicts the kernel or no machine can be right. */
function repairFields<K extends string, T extends { readonly [F in K]?: UInt64Value | undefined }>(
  part: string,
  given: T,
  fields: readonly (readonly [field: K, name: string])[],
  repair: Repair,
  kernel: (field: K) => KernelValues,
): T {
  const fixed = fields.flatMap(([field, name]): [K, UInt64Value | undefined][] => {
    const wrapped = given[field]
    if (wrapped === undefined) return []
    const value = repair.value(`${part}.${name}`, wrapped.value, () => kernel(field))
    return value === wrapped.value ? [] : [[field, value === undefined ? undefined : { value }]]
  })
  return fixed.length === 0 ? given : { ...given, ...Object.fromEntries(fixed) }
}

const cpuFields = [['usageCoreNanoSeconds', 'usageCoreNanoSeconds']] as const

function fixCpu(
  given: CpuUsage | undefined,
  ours: CpuUsage | undefined,
  repair: Repair,
): CpuUsage | undefined {
  if (given === undefined) return undefined
  const fixed = repairFields('cpu', given, cpuFields, repair, (field) => ({ same: ours?.[field]?.value }))
  if (!isZero(fixed.usageNanoCores) || !repair.hasDefect('rate-zero-when-unknown')) return fixed
  repair.note('cpu.usageNanoCores', 'rate-zero-when-unknown')
  return { ...fixed, usageNanoCores: undefined }
}

const memoryFields = (
  ['availableBytes', 'usageBytes', 'workingSetBytes', 'rssBytes', 'pageFaults', 'majorPageFaults'] as const
).map((field) => [field, field] as const)

function fixMemory(
  given: MemoryUsage | undefined,
  ours: MemoryUsage | undefined,
  repair: Repair,
): MemoryUsage | undefined {
  if (given === undefined) return undefined
  const fixed = repairFields('memory', given, memoryFields, repair, (field) => ({
    same: ours?.[field]?.value,
  }))
  const isUnlimited = ours !== undefined && ours.availableBytes === undefined
  if (!isUnlimited || !isZero(fixed.availableBytes) || !repair.hasDefect('available-zero-when-unlimited'))
    return fixed
  repair.note('memory.availableBytes', 'available-zero-when-unlimited')
  return { ...fixed, availableBytes: undefined }
}

const swapFields = [
  ['swapAvailableBytes', 'availableBytes'],
  ['swapUsageBytes', 'usageBytes'],
] as const

const fixSwap = (given: SwapUsage | undefined, ours: ContainerStats, repair: Repair): SwapUsage | undefined =>
  given &&
  repairFields('swap', given, swapFields, repair, (field) => ({
    same: ours.swap?.[field]?.value,
    usageBytes: ours.memory?.usageBytes?.value,
    swapBytes: ours.swap?.swapUsageBytes?.value,
  }))

function completeContainer(given: ContainerStats, ours: ContainerStats, repair: Repair): ContainerStats {
  return {
    ...given,
    attributes: given.attributes ?? ours.attributes,
    cpu: fill(fixCpu(given.cpu, ours.cpu, repair), ours.cpu),
    memory: fill(fixMemory(given.memory, ours.memory, repair), ours.memory),
    writableLayer: given.writableLayer ?? ours.writableLayer,
    swap: fill(fixSwap(given.swap, ours, repair), ours.swap),
    io: fill(given.io, ours.io),
  }
}

/** Received bytes of each interface. */
const trafficOf = ({ defaultInterface, interfaces }: NetworkUsage): ReadonlyMap<string, bigint> =>
  new Map(
    [...(defaultInterface === undefined ? [] : [defaultInterface]), ...interfaces].flatMap((i) =>
      i.rxBytes === undefined ? [] : [[i.name, i.rxBytes.value] as const],
    ),
  )

function completeNetwork(
  given: NetworkUsage | undefined,
  ours: LinuxPodSandboxStats,
  repair: Repair,
): NetworkUsage | undefined {
  if (given === undefined) return ours.network
  // We could read its processes, and they have no network namespace of their own.
  if (ours.network === undefined && ours.process !== undefined && repair.hasDefect('host-network-counted')) {
    repair.note('network', 'host-network-counted')
    return undefined
  }
  if (ours.network !== undefined && repair.isOtherNamespace(trafficOf(given), trafficOf(ours.network))) {
    repair.note('network', 'node-network-counted')
    return ours.network
  }
  const isLoopback = given.defaultInterface?.name === 'lo' && repair.hasDefect('loopback-as-default')
  if (isLoopback) repair.note('network', 'loopback-as-default')
  const fixed = isLoopback ? { ...given, defaultInterface: undefined, interfaces: [] } : given
  const filled = fill(fixed, ours.network) ?? fixed
  const whole = { ...filled, defaultInterface: filled.defaultInterface ?? noInterface }
  const others = whole.interfaces.filter((i) => i.name !== whole.defaultInterface?.name)
  if (others.length === whole.interfaces.length || !repair.hasDefect('default-interface-repeated'))
    return whole
  repair.note('network', 'default-interface-repeated')
  return { ...whole, interfaces: others }
}

function completeProcess(
  given: ProcessUsage | undefined,
  ours: ProcessUsage | undefined,
  repair: Repair,
): ProcessUsage | undefined {
  if (ours === undefined || !repair.hasDefect('threads-as-processes')) return fill(given, ours)
  const count = given?.processCount?.value
  if (count !== undefined && count !== ours.processCount?.value)
    repair.note('process_count', 'threads-as-processes')
  return ours
}

function completeLinux(
  given: LinuxPodSandboxStats,
  ours: LinuxPodSandboxStats,
  repair: Repair,
): LinuxPodSandboxStats {
  const left = new Map(ours.containers.map((c) => [c.attributes?.id ?? '', c]))
  const containers = given.containers.map((c) => {
    const own = left.get(c.attributes?.id ?? '')
    left.delete(c.attributes?.id ?? '')
    return own === undefined ? c : completeContainer(c, own, repair)
  })
  return {
    ...given,
    cpu: fill(fixCpu(given.cpu, ours.cpu, repair), ours.cpu),
    memory: fill(fixMemory(given.memory, ours.memory, repair), ours.memory),
    network: completeNetwork(given.network, ours, repair),
    process: completeProcess(given.process, ours.process, repair),
    containers: [...containers, ...left.values()],
    io: fill(given.io, ours.io),
  }
}

/** Containers and pods without values of ours stay as they are. */
export function completeContainerStats(
  given: ContainerStats,
  view: NodeView,
  repair: Repair,
): ContainerStats {
  const ours = containerStatsOf(view, given.attributes?.id ?? '')
  return ours === undefined ? given : completeContainer(given, ours, repair)
}

export function completePodStats(given: PodSandboxStats, view: NodeView, repair: Repair): PodSandboxStats {
  const ours = podStatsOf(view, given.attributes?.id ?? '')
  if (ours === undefined || given.windows !== undefined) return given
  return {
    ...given,
    linux: given.linux === undefined ? ours.linux : completeLinux(given.linux, ours.linux, repair),
  }
}
