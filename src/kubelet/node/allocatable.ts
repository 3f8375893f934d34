// What the node can give to pods, resource by resource: the same amounts as in its Node object, also without an API server.
import { type EffectiveConfig, resourceListOf } from '../../config/effective.js'
import { parseQuantity } from '../../core/units/quantity.js'
import type { ResourceList } from '../../core/units/resource-list.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { decideAllocatable, decideCapacity } from './decide/resources.js'

export async function readAllocatable(
  { kubelet }: EffectiveConfig,
  rootDir: string,
  { procfs, nodeHost, statsFiles }: Pick<KubeletPorts, 'procfs' | 'nodeHost' | 'statsFiles'>,
): Promise<ResourceList> {
  const capacity = decideCapacity({
    cpus: procfs.cpuInfo().processors,
    memoryBytes: procfs.memInfo().get('MemTotal') ?? 0n,
    hugePages: nodeHost.hugePages(),
    rootFsBytes: (await statsFiles.capacity(rootDir))?.capacityBytes,
    maxPods: kubelet.maxPods,
    podsPerCore: kubelet.podsPerCore,
  })
  const allocatable = decideAllocatable(capacity, {
    kubeReserved: resourceListOf(kubelet.kubeReserved),
    systemReserved: resourceListOf(kubelet.systemReserved),
    eviction: kubelet.evictionHard,
  })
  return new Map(Object.entries(allocatable).map(([name, text]) => [name, parseQuantity(text)]))
}
