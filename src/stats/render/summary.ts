// /stats/summary from samples: shape and names of stats/v1alpha1. What is not known is left out, never sent as 0.

import { inTurns } from '../../core/units/turns.js'
import { addUp, type FsUsage, type VolumeUsage } from '../filesystem/filesystem.js'
import {
  type ContainerSample,
  type NodeFilesystems,
  type NodeSample,
  type PodSample,
  podsWrittenATurn,
  type SystemContainer,
} from '../sample.js'
import { sumSwap } from '../sum-usage.js'
import type {
  CpuUsage,
  InterfaceUsage,
  IoUsage,
  MemoryUsage,
  NetworkUsage,
  Psi,
  PsiLine,
  SwapUsage,
} from '../usage.js'
import { addJson, formatTime, type JsonValue } from './json.js'
import { createTextBytes, type TextPieces } from './text-bytes.js'

/** Values of the background cache, by container id and pod uid. */
export interface PodFilesystems {
  rootfs(container: ContainerSample): FsUsage | undefined
  logs(pod: PodSample, container: ContainerSample): FsUsage | undefined
  /** Files directly in the pod's log directory, and the managed etc-hosts. */
  otherParts(pod: PodSample): readonly FsUsage[]
  volumes(pod: PodSample): readonly VolumeUsage[]
}

interface SummaryInput {
  readonly nodeName: string
  readonly node: NodeSample
  readonly filesystems: NodeFilesystems
  readonly pods: readonly PodSample[]
  readonly podFilesystems: PodFilesystems
}

type Fields = { readonly [key: string]: JsonValue | undefined }

const psiLine = ({ totalNanos, avg10, avg60, avg300 }: PsiLine): Fields => ({
  total: totalNanos,
  avg10,
  avg60,
  avg300,
})
const psiFields = (psi: Psi | undefined): Fields | undefined =>
  psi && { full: psiLine(psi.full), some: psiLine(psi.some) }

const cpuFields = (cpu: CpuUsage | undefined): Fields | undefined =>
  cpu && {
    time: formatTime(cpu.timeNanos),
    usageNanoCores: cpu.usageNanoCores,
    usageCoreNanoSeconds: cpu.usageCoreNanoSeconds,
    psi: psiFields(cpu.psi),
  }

const memoryFields = (memory: MemoryUsage | undefined): Fields | undefined =>
  memory && {
    time: formatTime(memory.timeNanos),
    availableBytes: memory.availableBytes,
    usageBytes: memory.usageBytes,
    workingSetBytes: memory.workingSetBytes,
    rssBytes: memory.rssBytes,
    pageFaults: memory.pageFaults,
    majorPageFaults: memory.majorPageFaults,
    psi: psiFields(memory.psi),
  }

const ioFields = (io: IoUsage | undefined): Fields | undefined =>
  io && { time: formatTime(io.timeNanos), psi: psiFields(io.psi) }

const swapFields = (swap: SwapUsage | undefined): Fields | undefined =>
  swap && {
    time: formatTime(swap.timeNanos),
    swapAvailableBytes: swap.availableBytes,
    swapUsageBytes: swap.usageBytes,
  }

/** The dropped packets are ours: v1alpha1 has no field for them, and its consumers ignore unknown ones. */
const interfaceFields = (i: InterfaceUsage): Fields => ({
  name: i.name,
  rxBytes: i.rxBytes,
  rxErrors: i.rxErrors,
  txBytes: i.txBytes,
  txErrors: i.txErrors,
  rxPacketsDropped: i.rxDropped,
  txPacketsDropped: i.txDropped,
})

/** The default interface is inline and again in the list, as cAdvisor's consumers expect. */
function networkFields(network: NetworkUsage | undefined): Fields | undefined {
  if (network === undefined) return undefined
  const { defaultInterface, interfaces } = network
  const all = defaultInterface === undefined ? interfaces : [defaultInterface, ...interfaces]
  return {
    time: formatTime(network.timeNanos),
    ...(defaultInterface === undefined ? { name: '' } : interfaceFields(defaultInterface)),
    interfaces: all.length === 0 ? undefined : all.map(interfaceFields),
  }
}

const fsFields = (fs: FsUsage | undefined): Fields | undefined =>
  fs && {
    time: formatTime(fs.timeNanos),
    availableBytes: fs.availableBytes,
    capacityBytes: fs.capacityBytes,
    usedBytes: fs.usedBytes,
    inodesFree: fs.inodesFree,
    inodes: fs.inodes,
    inodesUsed: fs.inodesUsed,
  }

const volumeFields = (volume: VolumeUsage): Fields => ({
  ...fsFields(volume),
  name: volume.name,
  pvcRef: volume.pvcRef && { name: volume.pvcRef.name, namespace: volume.pvcRef.namespace },
})

/** The swap of a pod is its containers' together: CRI has none at pod level, and a pod's cgroup has no limit of its own. */
export function podSwap({ usage, containers }: PodSample): SwapUsage | undefined {
  const sum = sumSwap(containers.map((c) => c.usage.swap))
  const { swap = sum } = usage
  return swap && { ...swap, availableBytes: swap.availableBytes ?? sum?.availableBytes }
}

const systemFields = ({ name, startTimeNanos, usage }: SystemContainer, full: boolean): Fields => ({
  name,
  startTime: formatTime(startTimeNanos),
  cpu: cpuFields(usage.cpu),
  memory: memoryFields(usage.memory),
  ...(full ? { io: ioFields(usage.io) } : {}),
  swap: swapFields(usage.swap),
})

function nodeFields({ nodeName, node, filesystems }: SummaryInput, full: boolean): Fields {
  const { usage, rlimit } = node
  const system = node.systemContainers.map((s) => systemFields(s, full))
  const light: Fields = {
    nodeName,
    systemContainers: system.length === 0 ? undefined : system,
    startTime: formatTime(node.startTimeNanos),
    cpu: cpuFields(usage.cpu),
    memory: memoryFields(usage.memory),
  }
  if (!full) return { ...light, swap: swapFields(usage.swap) }
  const imageFs = fsFields(filesystems.image)
  return {
    ...light,
    io: ioFields(usage.io),
    network: networkFields(node.network),
    fs: fsFields(filesystems.node),
    runtime: imageFs && { imageFs, containerFs: fsFields(filesystems.container) ?? imageFs },
    rlimit: rlimit && {
      time: formatTime(rlimit.timeNanos),
      maxpid: rlimit.maxPid,
      curproc: rlimit.processes,
    },
    swap: swapFields(usage.swap),
  }
}

function podFields(pod: PodSample, { filesystems, podFilesystems }: SummaryInput, full: boolean): Fields {
  const { info, usage } = pod
  const parts: FsUsage[] = full ? [...podFilesystems.otherParts(pod)] : []
  const containers = pod.containers.map((container): Fields => {
    const { usage: used, info: about } = container
    const rootfs = full ? podFilesystems.rootfs(container) : undefined
    const logs = full ? podFilesystems.logs(pod, container) : undefined
    parts.push(...[rootfs, logs].filter((p) => p !== undefined))
    return {
      name: about.name,
      startTime: formatTime(about.createdAtNanos),
      cpu: cpuFields(used.cpu),
      memory: memoryFields(used.memory),
      ...(full ? { io: ioFields(used.io), rootfs: fsFields(rootfs), logs: fsFields(logs) } : {}),
      swap: swapFields(used.swap),
    }
  })
  const volumes = full ? podFilesystems.volumes(pod) : []
  parts.push(...volumes.filter((v) => v.isLocalEphemeral))
  return {
    podRef: { name: info.ref.name, namespace: info.ref.namespace, uid: info.ref.uid },
    startTime: formatTime(info.createdAtNanos),
    containers: containers.length === 0 ? null : containers,
    cpu: cpuFields(usage.cpu),
    memory: memoryFields(usage.memory),
    ...(full
      ? {
          io: ioFields(usage.io),
          network: networkFields(pod.network),
          volume: volumes.length === 0 ? undefined : volumes.map(volumeFields),
          'ephemeral-storage': fsFields(addUp(parts, filesystems.node)),
          process_stats: pod.processes && { process_count: pod.processes.processCount },
        }
      : {}),
    swap: swapFields(podSwap(pod)),
  }
}

/** `full: false` is the form of only_cpu_and_memory=true. */
export async function writeSummary(input: SummaryInput, full: boolean): Promise<TextPieces> {
  const into = createTextBytes()
  into.add('{"node":')
  addJson(nodeFields(input, full), into)
  let before = ',"pods":['
  await inTurns(input.pods, podsWrittenATurn, (pod) => {
    into.add(before)
    addJson(podFields(pod, input, full), into)
    before = ','
  })
  into.add(before === ',' ? ']}' : `${before}]}`)
  return into.take()
}
