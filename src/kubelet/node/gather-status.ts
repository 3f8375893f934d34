// Gathers what the Node's status is made of. What cannot be read is left at its last or its empty value: a heartbeat must
// not fail because DNS does.
import { type EffectiveConfig, resourceListOf } from '../../config/effective.js'
import { formatTime } from '../../core/units/rfc3339.js'
import type { CriClient } from '../../ports/runtime.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import type { Pressure } from './decide/conditions.js'
import { declaredFeatures } from './decide/declared-features.js'
import { kubeletVersion } from './decide/kubelet-version.js'
import type { NodeFactsNow } from './decide/node-status.js'
import { createImageList } from './image-list.js'
import type { RuntimeState } from './runtime-state.js'

export interface GatherStatusInput {
  readonly config: EffectiveConfig
  readonly nodeName: string
  readonly rootDir: string
  readonly images: CriClient
  readonly runtimeState: RuntimeState
  readonly ports: KubeletPorts
  /** Conditions of the eviction manager; none without one. */
  readonly pressure?: () => Pressure
  /** Health checks that keep the node from being ready, in upstream's words. */
  readonly unhealthy?: () => readonly string[]
}

const noPressure: Pressure = { memory: false, disk: false, pid: false }
const lookupMs = 3_000

export function createStatusGatherer(
  input: GatherStatusInput,
): (signal: AbortSignal) => Promise<NodeFactsNow> {
  const { config, nodeName, ports, runtimeState } = input
  const { kubelet, process } = config
  const { nodeHost, procfs, statsFiles, clock, log } = ports
  const listImages = createImageList(input.images, clock, log)
  const nodeIps = (process['node-ip'] ?? '').split(',').filter((ip) => ip !== '')
  return async (signal) => {
    const isAddressed = nodeIps.some((ip) => ip !== '0.0.0.0' && ip !== '::')
    const [ids, rootFs, images, resolved] = await Promise.all([
      statsFiles.machineIds(),
      statsFiles.capacity(input.rootDir),
      listImages(signal),
      isAddressed ? [] : nodeHost.lookup(nodeName, lookupMs),
    ])
    const memInfo = procfs.memInfo()
    return {
      addresses: {
        hostname: nodeName,
        nodeIps,
        isCloudExternal: process['cloud-provider'] === 'external',
        ownAddresses: nodeHost.ownAddresses(),
        resolved,
        routed: isAddressed ? [] : nodeHost.routedAddresses(),
      },
      ids,
      machine: {
        cpus: procfs.cpuInfo().processors,
        memoryBytes: memInfo.get('MemTotal') ?? 0n,
        hugePages: nodeHost.hugePages(),
        rootFsBytes: rootFs?.capacityBytes,
        maxPods: kubelet.maxPods,
        podsPerCore: kubelet.podsPerCore,
      },
      reservations: {
        kubeReserved: resourceListOf(kubelet.kubeReserved),
        systemReserved: resourceListOf(kubelet.systemReserved),
        eviction: kubelet.evictionHard,
      },
      swapBytes: memInfo.get('SwapTotal') ?? 0n,
      inUserNamespace: config.version.minor >= 37 ? nodeHost.inUserNamespace() : undefined,
      kernelVersion: procfs.osRelease(),
      osImage: nodeHost.osImage(),
      kubeletVersion: kubeletVersion(config.version, ports.version),
      os: ports.host.os,
      arch: nodeHost.architecture,
      runtimeVersion: runtimeState.version(),
      runtime: runtimeState.seen(),
      handlers: runtimeState.handlers(),
      supplementalGroupsPolicy: runtimeState.supplementalGroupsPolicy(),
      images,
      maxImages: kubelet.nodeStatusMaxImages,
      port: kubelet.enableServer ? kubelet.port : 0,
      pressure: input.pressure?.() ?? noPressure,
      unhealthy: input.unhealthy?.() ?? [],
      declaredFeatures,
      now: formatTime(clock.nowNanos()),
    }
  }
}
