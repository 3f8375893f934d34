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
} from '../../cri-api/api.js'
import type { DefectName } from './defects.js'
import type { NodeView } from './node-view.js'
import { containerStatsOf, podStatsOf } from './own-stats.js'
import { noInterface } from './to-cri.js'

export type HasDefect = (defect: DefectName) => boolean

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

const fixCpu = (given: CpuUsage | undefined, hasDefect: HasDefect): CpuUsage | undefined =>
  given !== undefined && isZero(given.usageNanoCores) && hasDefect('rate-zero-when-unknown')
    ? { ...given, usageNanoCores: undefined }
    : given

const fixMemory = (
  given: MemoryUsage | undefined,
  ours: MemoryUsage | undefined,
  hasDefect: HasDefect,
): MemoryUsage | undefined =>
  given !== undefined &&
  isZero(given.availableBytes) &&
  ours !== undefined &&
  ours.availableBytes === undefined &&
  hasDefect('available-zero-when-unlimited')
    ? { ...given, availableBytes: undefined }
    : given

function completeContainer(
  given: ContainerStats,
  ours: ContainerStats,
  hasDefect: HasDefect,
): ContainerStats {
  return {
    ...given,
    attributes: given.attributes ?? ours.attributes,
    cpu: fill(fixCpu(given.cpu, hasDefect), ours.cpu),
    memory: fill(fixMemory(given.memory, ours.memory, hasDefect), ours.memory),
    writableLayer: given.writableLayer ?? ours.writableLayer,
    swap: fill(given.swap, ours.swap),
    io: fill(given.io, ours.io),
  }
}

function completeNetwork(
  given: NetworkUsage | undefined,
  ours: LinuxPodSandboxStats,
  hasDefect: HasDefect,
): NetworkUsage | undefined {
  if (given === undefined) return ours.network
  // We could read its processes, and they have no network namespace of their own.
  if (ours.network === undefined && ours.process !== undefined && hasDefect('host-network-counted'))
    return undefined
  const isLoopback = given.defaultInterface?.name === 'lo' && hasDefect('loopback-as-default')
  const fixed = isLoopback ? { ...given, defaultInterface: undefined, interfaces: [] } : given
  const filled = fill(fixed, ours.network) ?? fixed
  const whole = { ...filled, defaultInterface: filled.defaultInterface ?? noInterface }
  return hasDefect('default-interface-repeated')
    ? {
        ...whole,
        interfaces: whole.interfaces.filter((i) => i.name !== whole.defaultInterface?.name),
      }
    : whole
}

const completeProcess = (
  given: ProcessUsage | undefined,
  ours: ProcessUsage | undefined,
  hasDefect: HasDefect,
): ProcessUsage | undefined =>
  ours !== undefined && hasDefect('threads-as-processes') ? ours : fill(given, ours)

function completeLinux(
  given: LinuxPodSandboxStats,
  ours: LinuxPodSandboxStats,
  hasDefect: HasDefect,
): LinuxPodSandboxStats {
  const left = new Map(ours.containers.map((c) => [c.attributes?.id ?? '', c]))
  const containers = given.containers.map((c) => {
    const own = left.get(c.attributes?.id ?? '')
    left.delete(c.attributes?.id ?? '')
    return own === undefined ? c : completeContainer(c, own, hasDefect)
  })
  return {
    ...given,
    cpu: fill(fixCpu(given.cpu, hasDefect), ours.cpu),
    memory: fill(fixMemory(given.memory, ours.memory, hasDefect), ours.memory),
    network: completeNetwork(given.network, ours, hasDefect),
    process: completeProcess(given.process, ours.process, hasDefect),
    containers: [...containers, ...left.values()],
    io: fill(given.io, ours.io),
  }
}

/** Containers and pods without values of ours stay as they are. */
export function completeContainerStats(
  given: ContainerStats,
  view: NodeView,
  hasDefect: HasDefect,
): ContainerStats {
  const ours = containerStatsOf(view, given.attributes?.id ?? '')
  return ours === undefined ? given : completeContainer(given, ours, hasDefect)
}

export function completePodStats(
  given: PodSandboxStats,
  view: NodeView,
  hasDefect: HasDefect,
): PodSandboxStats {
  const ours = podStatsOf(view, given.attributes?.id ?? '')
  if (ours === undefined || given.windows !== undefined) return given
  return {
    ...given,
    linux: given.linux === undefined ? ours.linux : completeLinux(given.linux, ours.linux, hasDefect),
  }
}
