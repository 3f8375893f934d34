// The Node as it should be now: its metadata and spec as they are, its status from what is known of the machine. What could
// not be found out stays as it was, and is named.
import type { KubeNode, NodeRuntimeHandler, NodeStatus } from '../../../core/kube/objects.js'
import type { Image, RuntimeHandler } from '../../../cri-api/api.js'
import { type AddressFacts, decideAddresses } from './addresses.js'
import { decideConditions, type Pressure } from './conditions.js'
import { decideImages } from './images.js'
import { type RuntimeSeen, readyProblems } from './ready-problems.js'
import { decideAllocatable, decideCapacity, type MachineResources, type Reservations } from './resources.js'
import { formatRuntimeVersion } from './runtime-version.js'

export interface NodeFactsNow {
  readonly addresses: Omit<AddressFacts, 'known'>
  readonly ids: { readonly machineId: string; readonly systemUuid: string; readonly bootId: string }
  readonly machine: MachineResources
  readonly reservations: Reservations
  readonly swapBytes: bigint
  /** Undefined: releases that do not say. */
  readonly inUserNamespace: boolean | undefined
  readonly kernelVersion: string
  readonly osImage: string
  readonly kubeletVersion: string
  readonly os: string
  readonly arch: string
  /** Undefined: the runtime did not say. */
  readonly runtimeVersion: { readonly name: string; readonly version: string } | undefined
  readonly runtime: RuntimeSeen
  readonly handlers: readonly Pick<RuntimeHandler, 'name' | 'features'>[]
  readonly supplementalGroupsPolicy: boolean | undefined
  readonly images: readonly Image[]
  readonly maxImages: number
  /** 0: nothing is served. */
  readonly port: number
  readonly pressure: Pressure
  readonly unhealthy: readonly string[]
  readonly declaredFeatures: readonly string[]
  /** RFC 3339 */
  readonly now: string
}

export interface StatusDecision {
  readonly node: KubeNode
  /** Reasons of events about the status, in order. */
  readonly events: readonly string[]
  /** The boot id of before, when the machine was started again meanwhile. */
  readonly rebootedFrom?: string
  readonly problem?: string
}

const providedIp = 'alpha.kubernetes.io/provided-node-ip'

export function decideNodeStatus(node: KubeNode, f: NodeFactsNow): StatusDecision {
  const before: NodeStatus = node.status ?? {}
  const found = decideAddresses({ ...f.addresses, known: before.addresses ?? [] })
  const capacity = decideCapacity(f.machine, before.capacity)
  const { conditions, events } = decideConditions({
    before: before.conditions ?? [],
    pressure: f.pressure,
    problems: readyProblems({ runtime: f.runtime, unhealthy: f.unhealthy, capacity }),
    now: f.now,
  })
  const bootId = before.nodeInfo?.bootID ?? ''
  const status: NodeStatus = {
    ...before,
    ...('addresses' in found ? { addresses: found.addresses } : {}),
    capacity,
    allocatable: decideAllocatable(capacity, f.reservations),
    conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: f.port } },
    nodeInfo: decideNodeInfo(f),
    images: decideImages(f.images, f.maxImages),
    runtimeHandlers: decideHandlers(f.handlers),
    ...(f.supplementalGroupsPolicy === undefined
      ? {}
      : { features: { supplementalGroupsPolicy: f.supplementalGroupsPolicy } }),
    ...(f.declaredFeatures.length === 0 ? {} : { declaredFeatures: [...f.declaredFeatures].sort() }),
  }
  return {
    node: {
      ...withProvidedIp(node, 'providedIp' in found ? found.providedIp : undefined),
      status: pruned(status),
    },
    events,
    ...(bootId !== '' && bootId !== f.ids.bootId ? { rebootedFrom: bootId } : {}),
    ...('problem' in found ? { problem: found.problem } : {}),
  }
}

const decideNodeInfo = (f: NodeFactsNow): NonNullable<NodeStatus['nodeInfo']> => ({
  machineID: f.ids.machineId,
  systemUUID: f.ids.systemUuid,
  bootID: f.ids.bootId,
  kernelVersion: f.kernelVersion,
  osImage: f.osImage,
  containerRuntimeVersion: formatRuntimeVersion(f.runtimeVersion),
  kubeletVersion: f.kubeletVersion,
  kubeProxyVersion: '',
  operatingSystem: f.os,
  architecture: f.arch,
  ...(f.swapBytes === 0n ? {} : { swap: { capacity: Number(f.swapBytes) } }),
  ...(f.inUserNamespace === undefined ? {} : { runningInUserNamespace: f.inUserNamespace }),
})

/** The empty name is the default handler. */
const decideHandlers = (handlers: NodeFactsNow['handlers']): readonly NodeRuntimeHandler[] =>
  [...handlers]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, features }) => ({
      name,
      features: {
        recursiveReadOnlyMounts: features?.recursiveReadOnlyMounts ?? false,
        userNamespaces: features?.userNamespaces ?? false,
      },
    }))

/** Empty lists are left out by the API server: sending them would look like a change each time. */
const pruned = (status: NodeStatus): NodeStatus =>
  Object.fromEntries(
    Object.entries(status).filter(([, value]) => !(Array.isArray(value) && value.length === 0)),
  )

function withProvidedIp(node: KubeNode, ip: string | undefined): KubeNode {
  const { [providedIp]: was, ...annotations } = node.metadata?.annotations ?? {}
  if (was === ip) return node
  return {
    ...node,
    metadata: {
      ...node.metadata,
      annotations: { ...annotations, ...(ip === undefined ? {} : { [providedIp]: ip }) },
    },
  }
}
