// CRI's stats messages as usage: a wrapper that is not set is unknown, whatever the message around it says.
import type * as cri from '../../cri-api/api.js'
import type { LayerUsage } from '../sample.js'
import type {
  CpuUsage,
  InterfaceUsage,
  IoUsage,
  MemoryUsage,
  NetworkUsage,
  ProcessUsage,
  Psi,
  PsiLine,
  SwapUsage,
  Usage,
} from '../usage.js'

/** Timestamps must be above 0; a runtime that sends none gets the time at which its answer came. */
const timeOf = (timestamp: bigint, receivedNanos: bigint): bigint =>
  timestamp > 0n ? timestamp : receivedNanos

/** Runtimes send 0 for "no limit", which would read as a container at its limit. */
const unlessZero = (value: bigint | undefined): bigint | undefined => (value === 0n ? undefined : value)

const psiLine = (data: cri.PsiData | undefined): PsiLine => ({
  totalNanos: data?.Total ?? 0n,
  avg10: data?.Avg10 ?? 0,
  avg60: data?.Avg60 ?? 0,
  avg300: data?.Avg300 ?? 0,
})

const psiOf = (psi: cri.PsiStats | undefined): Psi | undefined =>
  psi && { some: psiLine(psi.Some), full: psiLine(psi.Full) }

const cpuOf = (cpu: cri.CpuUsage | cri.WindowsCpuUsage | undefined, received: bigint): CpuUsage | undefined =>
  cpu && {
    timeNanos: timeOf(cpu.timestamp, received),
    usageCoreNanoSeconds: cpu.usageCoreNanoSeconds?.value,
    usageNanoCores: cpu.usageNanoCores?.value,
    psi: 'psi' in cpu ? psiOf(cpu.psi) : undefined,
  }

const memoryOf = (memory: cri.MemoryUsage | undefined, received: bigint): MemoryUsage | undefined =>
  memory && {
    timeNanos: timeOf(memory.timestamp, received),
    availableBytes: unlessZero(memory.availableBytes?.value),
    usageBytes: memory.usageBytes?.value,
    workingSetBytes: memory.workingSetBytes?.value,
    rssBytes: memory.rssBytes?.value,
    pageFaults: memory.pageFaults?.value,
    majorPageFaults: memory.majorPageFaults?.value,
    psi: psiOf(memory.psi),
  }

/** What a process has committed is what the summary calls usage there. */
const windowsMemoryOf = (
  memory: cri.WindowsMemoryUsage | undefined,
  received: bigint,
): MemoryUsage | undefined =>
  memory && {
    timeNanos: timeOf(memory.timestamp, received),
    availableBytes: unlessZero(memory.availableBytes?.value),
    usageBytes: memory.commitMemoryBytes?.value,
    workingSetBytes: memory.workingSetBytes?.value,
    rssBytes: undefined,
    pageFaults: memory.pageFaults?.value,
    majorPageFaults: undefined,
    psi: undefined,
  }

const swapOf = (swap: cri.SwapUsage | undefined, received: bigint): SwapUsage | undefined =>
  swap && {
    timeNanos: timeOf(swap.timestamp, received),
    availableBytes: swap.swapAvailableBytes?.value,
    usageBytes: swap.swapUsageBytes?.value,
  }

function ioOf(io: cri.IoUsage | undefined, received: bigint): IoUsage | undefined {
  const psi = psiOf(io?.psi)
  return io === undefined || psi === undefined
    ? undefined
    : { timeNanos: timeOf(io.timestamp, received), psi }
}

export const layerOf = (
  layer: cri.FilesystemUsage | cri.WindowsFilesystemUsage | undefined,
  received: bigint,
): LayerUsage | undefined =>
  layer && {
    timeNanos: timeOf(layer.timestamp, received),
    mountpoint: layer.fsId?.mountpoint ?? '',
    usedBytes: layer.usedBytes?.value,
    inodesUsed: 'inodesUsed' in layer ? layer.inodesUsed?.value : undefined,
  }

const interfaceOf = (i: cri.NetworkInterfaceUsage): InterfaceUsage => ({
  name: i.name,
  rxBytes: i.rxBytes?.value,
  rxErrors: i.rxErrors?.value,
  txBytes: i.txBytes?.value,
  txErrors: i.txErrors?.value,
})

/** Windows counts dropped packets instead of errors. */
const windowsInterfaceOf = (i: cri.WindowsNetworkInterfaceUsage): InterfaceUsage => ({
  name: i.name,
  rxBytes: i.rxBytes?.value,
  rxErrors: undefined,
  txBytes: i.txBytes?.value,
  txErrors: undefined,
  rxDropped: i.rxPacketsDropped?.value,
  txDropped: i.txPacketsDropped?.value,
})

/** containerd repeats the default interface in the list. */
function networkOf<I extends { readonly name: string }>(
  network: { timestamp: bigint; defaultInterface?: I | undefined; interfaces: I[] } | undefined,
  received: bigint,
  one: (i: I) => InterfaceUsage,
): NetworkUsage | undefined {
  if (network === undefined) return undefined
  const { defaultInterface: given } = network
  // A nameless one says that there is none.
  const first = given?.name === '' ? undefined : given
  return {
    timeNanos: timeOf(network.timestamp, received),
    defaultInterface: first === undefined ? undefined : one(first),
    interfaces: network.interfaces.filter((i) => i.name !== first?.name).map(one),
  }
}

const processOf = (process: cri.ProcessUsage | undefined, received: bigint): ProcessUsage | undefined =>
  process?.processCount === undefined
    ? undefined
    : { timeNanos: timeOf(process.timestamp, received), processCount: process.processCount.value }

interface CriContainerUsage {
  readonly id: string
  readonly usage: Usage
  readonly writableLayer: LayerUsage | undefined
}

export const containerUsageOf = (c: cri.ContainerStats, received: bigint): CriContainerUsage => ({
  id: c.attributes?.id ?? '',
  usage: {
    cpu: cpuOf(c.cpu, received),
    memory: memoryOf(c.memory, received),
    swap: swapOf(c.swap, received),
    io: ioOf(c.io, received),
  },
  writableLayer: layerOf(c.writableLayer, received),
})

const windowsContainerOf = (c: cri.WindowsContainerStats, received: bigint): CriContainerUsage => ({
  id: c.attributes?.id ?? '',
  usage: {
    cpu: cpuOf(c.cpu, received),
    memory: windowsMemoryOf(c.memory, received),
    swap: undefined,
    io: undefined,
  },
  writableLayer: layerOf(c.writableLayer, received),
})

export interface CriPodUsage {
  readonly id: string
  readonly usage: Usage
  readonly network: NetworkUsage | undefined
  readonly processes: ProcessUsage | undefined
  readonly containers: readonly CriContainerUsage[]
}

/** Undefined: neither form is set, so there is nothing in it. */
export function podUsageOf(pod: cri.PodSandboxStats, received: bigint): CriPodUsage | undefined {
  const id = pod.attributes?.id ?? ''
  const { linux, windows } = pod
  if (linux !== undefined)
    return {
      id,
      usage: {
        cpu: cpuOf(linux.cpu, received),
        memory: memoryOf(linux.memory, received),
        swap: undefined,
        io: ioOf(linux.io, received),
      },
      network: networkOf(linux.network, received, interfaceOf),
      processes: processOf(linux.process, received),
      containers: linux.containers.map((c) => containerUsageOf(c, received)),
    }
  if (windows === undefined) return undefined
  return {
    id,
    usage: {
      cpu: cpuOf(windows.cpu, received),
      memory: windowsMemoryOf(windows.memory, received),
      swap: undefined,
      io: undefined,
    },
    network: networkOf(windows.network, received, windowsInterfaceOf),
    processes: processOf(windows.process, received),
    containers: windows.containers.map((c) => windowsContainerOf(c, received)),
  }
}
