// The runtime's values with ours in the gaps. What it gave stays, apart from the defects that are known of it; fields
// that we have no name for stay too.
import type {
  ContainerStats,
  CpuUsage,
  LinuxPodSandboxStats,
  MemoryUsage,
  NetworkUsage,
  PodSandboxStats,
  ProcessUsage,
} from '../../cri-api/api.js'
import { containerStatsOf, podStatsOf } from './answers.js'
import type { DefectName } from './defects.js'
import type { NodeView } from './node-view.js'
import { noInterface } from './to-cri.js'

export type HasDefect = (defect: DefectName) => boolean

/** A message without a time, or a list without items, says nothing. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === 0n || (Array.isArray(value) && value.length === 0)

/** Field by field, the runtime's word first. */
function fill<T extends object>(given: T | undefined, ours: T | undefined): T | undefined {
  if (given === undefined || ours === undefined) return given ?? ours
  return Object.assign(
    {},
    ours,
    Object.fromEntries(Object.entries(given).filter(([, value]) => !isNothing(value))),
  )
}

const isZero = (wrapped: { readonly value: bigint } | undefined): boolean => wrapped?.value === 0n

const mendCpu = (given: CpuUsage | undefined, knows: HasDefect): CpuUsage | undefined =>
  given !== undefined && isZero(given.usageNanoCores) && knows('rate-zero-when-unknown')
    ? { ...given, usageNanoCores: undefined }
    : given

const mendMemory = (
  given: MemoryUsage | undefined,
  ours: MemoryUsage | undefined,
  knows: HasDefect,
): MemoryUsage | undefined =>
  given !== undefined &&
  isZero(given.availableBytes) &&
  ours !== undefined &&
  ours.availableBytes === undefined &&
  knows('available-zero-when-unlimited')
    ? { ...given, availableBytes: undefined }
    : given

export function completeContainer(
  given: ContainerStats,
  ours: ContainerStats,
  knows: HasDefect,
): ContainerStats {
  return {
    ...given,
    attributes: given.attributes ?? ours.attributes,
    cpu: fill(mendCpu(given.cpu, knows), ours.cpu),
    memory: fill(mendMemory(given.memory, ours.memory, knows), ours.memory),
    writableLayer: given.writableLayer ?? ours.writableLayer,
    swap: fill(given.swap, ours.swap),
    io: fill(given.io, ours.io),
  }
}

function completeNetwork(
  given: NetworkUsage | undefined,
  ours: LinuxPodSandboxStats,
  knows: HasDefect,
): NetworkUsage | undefined {
  if (given === undefined) return ours.network
  // It has processes that we looked through, and still no network of its own.
  if (ours.network === undefined && ours.process !== undefined && knows('host-network-counted'))
    return undefined
  const isLoopback = given.defaultInterface?.name === 'lo' && knows('loopback-as-default')
  const mended = isLoopback ? { ...given, defaultInterface: undefined, interfaces: [] } : given
  const filled = fill(mended, ours.network) ?? mended
  const whole = { ...filled, defaultInterface: filled.defaultInterface ?? noInterface }
  return knows('default-interface-repeated')
    ? {
        ...whole,
        interfaces: whole.interfaces.filter((i) => i.name !== whole.defaultInterface?.name),
      }
    : whole
}

const completeProcess = (
  given: ProcessUsage | undefined,
  ours: ProcessUsage | undefined,
  knows: HasDefect,
): ProcessUsage | undefined =>
  ours !== undefined && knows('threads-as-processes') ? ours : fill(given, ours)

function completeLinux(
  given: LinuxPodSandboxStats,
  ours: LinuxPodSandboxStats,
  knows: HasDefect,
): LinuxPodSandboxStats {
  const left = new Map(ours.containers.map((c) => [c.attributes?.id ?? '', c]))
  const containers = given.containers.map((c) => {
    const own = left.get(c.attributes?.id ?? '')
    left.delete(c.attributes?.id ?? '')
    return own === undefined ? c : completeContainer(c, own, knows)
  })
  return {
    ...given,
    cpu: fill(mendCpu(given.cpu, knows), ours.cpu),
    memory: fill(mendMemory(given.memory, ours.memory, knows), ours.memory),
    network: completeNetwork(given.network, ours, knows),
    process: completeProcess(given.process, ours.process, knows),
    containers: [...containers, ...left.values()],
    io: fill(given.io, ours.io),
  }
}

/** Containers and pods that we know nothing about go by as they are. */
export function completeContainerStats(
  given: ContainerStats,
  view: NodeView,
  knows: HasDefect,
): ContainerStats {
  const ours = containerStatsOf(view, given.attributes?.id ?? '')
  return ours === undefined ? given : completeContainer(given, ours, knows)
}

export function completePodStats(given: PodSandboxStats, view: NodeView, knows: HasDefect): PodSandboxStats {
  const ours = podStatsOf(view, given.attributes?.id ?? '')
  if (ours === undefined || given.windows !== undefined) return given
  return {
    ...given,
    linux: given.linux === undefined ? ours.linux : completeLinux(given.linux, ours.linux, knows),
  }
}
