// Usage in the terms of CRI's messages. What is unknown stays unset.
import type * as cri from '../../cri-api/api.js'
import type { ContainerSample, LayerUsage, PodSample } from '../../stats/sample.js'
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
} from '../../stats/usage.js'

const wrap = (value: bigint | undefined): cri.UInt64Value | undefined =>
  value === undefined ? undefined : { value }

const psiLine = ({ totalNanos, avg10, avg60, avg300 }: PsiLine): cri.PsiData => ({
  Total: totalNanos,
  Avg10: avg10,
  Avg60: avg60,
  Avg300: avg300,
})

const psi = (p: Psi | undefined): cri.PsiStats | undefined =>
  p && { Some: psiLine(p.some), Full: psiLine(p.full) }

const cpu = (c: CpuUsage | undefined): cri.CpuUsage | undefined =>
  c && {
    timestamp: c.timeNanos,
    usageCoreNanoSeconds: wrap(c.usageCoreNanoSeconds),
    usageNanoCores: wrap(c.usageNanoCores),
    psi: psi(c.psi),
  }

const memory = (m: MemoryUsage | undefined): cri.MemoryUsage | undefined =>
  m && {
    timestamp: m.timeNanos,
    workingSetBytes: wrap(m.workingSetBytes),
    availableBytes: wrap(m.availableBytes),
    usageBytes: wrap(m.usageBytes),
    rssBytes: wrap(m.rssBytes),
    pageFaults: wrap(m.pageFaults),
    majorPageFaults: wrap(m.majorPageFaults),
    psi: psi(m.psi),
  }

const swap = (s: SwapUsage | undefined): cri.SwapUsage | undefined =>
  s && {
    timestamp: s.timeNanos,
    swapAvailableBytes: wrap(s.availableBytes),
    swapUsageBytes: wrap(s.usageBytes),
  }

const io = (i: IoUsage | undefined): cri.IoUsage | undefined =>
  i && { timestamp: i.timeNanos, psi: psi(i.psi) }

const layer = (l: LayerUsage | undefined): cri.FilesystemUsage | undefined =>
  l && {
    timestamp: l.timeNanos,
    fsId: { mountpoint: l.mountpoint },
    usedBytes: wrap(l.usedBytes),
    inodesUsed: wrap(l.inodesUsed),
  }

/** A kubelet reads the default interface of a network without asking whether there is one, and would crash. */
export const noInterface: cri.NetworkInterfaceUsage = {
  name: '',
  rxBytes: undefined,
  rxErrors: undefined,
  txBytes: undefined,
  txErrors: undefined,
}

const interfaceOf = (i: InterfaceUsage): cri.NetworkInterfaceUsage => ({
  name: i.name,
  rxBytes: wrap(i.rxBytes),
  rxErrors: wrap(i.rxErrors),
  txBytes: wrap(i.txBytes),
  txErrors: wrap(i.txErrors),
})

const network = (n: NetworkUsage | undefined): cri.NetworkUsage | undefined =>
  n && {
    timestamp: n.timeNanos,
    defaultInterface: n.defaultInterface === undefined ? noInterface : interfaceOf(n.defaultInterface),
    interfaces: n.interfaces.map(interfaceOf),
  }

const process = (p: ProcessUsage | undefined): cri.ProcessUsage | undefined =>
  p && { timestamp: p.timeNanos, processCount: wrap(p.processCount) }

const containerAttributes = (c: cri.Container): cri.ContainerAttributes => ({
  id: c.id,
  metadata: c.metadata,
  labels: c.labels,
  annotations: c.annotations,
})

export const toContainerStats = (
  about: cri.Container,
  { usage }: ContainerSample,
  writableLayer: LayerUsage | undefined,
): cri.ContainerStats => ({
  attributes: containerAttributes(about),
  cpu: cpu(usage.cpu),
  memory: memory(usage.memory),
  writableLayer: layer(writableLayer),
  swap: swap(usage.swap),
  io: io(usage.io),
})

export const toPodSandboxStats = (
  about: cri.PodSandbox,
  sample: PodSample,
  containers: cri.ContainerStats[],
): cri.PodSandboxStats & { readonly linux: cri.LinuxPodSandboxStats } => ({
  attributes: {
    id: about.id,
    metadata: about.metadata,
    labels: about.labels,
    annotations: about.annotations,
  },
  linux: {
    cpu: cpu(sample.usage.cpu),
    memory: memory(sample.usage.memory),
    network: network(sample.network),
    process: process(sample.processes),
    containers,
    io: io(sample.usage.io),
  },
  windows: undefined,
})
