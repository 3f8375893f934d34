// The words with which a pod is evicted, and the annotations of its event: upstream's, which people and programs search for.
import type { PodResources } from '../../../core/pod/pod.js'
import {
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityOfBytes,
  zeroQuantity,
} from '../../../core/units/quantity.js'
import type { Observations } from './observations.js'
import type { PodUse } from './pod-usage.js'
import { type Resource, resourceOf } from './signals.js'
import { type Threshold, thresholdAmount } from './thresholds.js'

interface EvictionText {
  readonly message: string
  readonly annotations: Readonly<Record<string, string>>
}

const shown = (bytes: bigint): string => formatQuantity(quantityOfBytes(bytes))
/** Counts, as of inodes and processes. */
const counted = (n: bigint): string => formatQuantity({ ...quantityOfBytes(n), format: 'DecimalSI' })

export function evictionText(
  pod: PodResources,
  use: PodUse,
  urgent: readonly Threshold[],
  observations: Observations,
): EvictionText {
  const [first] = urgent
  if (first === undefined) throw new Error('an eviction without a threshold')
  const resource = resourceOf[first.signal]
  const ofPod = podPart(pod, use, resource)
  const offending = offendingContainers(pod, use, resource)
  return {
    message: [
      `The node was low on resource: ${resource}. `,
      thresholdPart(resource, urgent, observations),
      ofPod?.message ?? '',
      ...offending.map(
        ({ name, used, request }) =>
          `Container ${name} was using ${used}, request is ${request}, has larger consumption of ${resource}. `,
      ),
    ].join(''),
    annotations: {
      ...ofPod?.annotations,
      offending_containers: offending.map(({ name }) => name).join(','),
      offending_containers_usage: offending.map(({ used }) => used).join(','),
      starved_resource: resource,
    },
  }
}

function thresholdPart(resource: Resource, urgent: readonly Threshold[], observations: Observations): string {
  const met = urgent.find((t) => resourceOf[t.signal] === resource && observations.has(t.signal))
  const seen = met && observations.get(met.signal)
  if (met === undefined || seen === undefined) return ''
  const available =
    resource === 'inodes' || resource === 'pids' ? counted(seen.available) : shown(seen.available)
  const quantity = met.value.endsWith('%')
    ? shown(thresholdAmount(met.value, seen.capacity))
    : formatQuantity(parseQuantity(met.value))
  return `Threshold quantity: ${quantity}, available: ${available}. `
}

/** Pods with resources of their own are named as a whole too. */
function podPart(pod: PodResources, use: PodUse, resource: Resource): EvictionText | undefined {
  const request = pod.resources?.requests.get('memory')
  if (resource !== 'memory' || request === undefined || use.memoryBytes === undefined) return undefined
  const used = shown(use.memoryBytes)
  return {
    message: `Pod ${pod.name} was using ${used}, request is ${formatQuantity(request)}, has larger consumption of ${resource}. `,
    annotations: { offending_pod: pod.name, offending_pod_usage: used },
  }
}

function offendingContainers(
  pod: PodResources,
  use: PodUse,
  resource: Resource,
): readonly { readonly name: string; readonly used: string; readonly request: string }[] {
  const specs = [...pod.containers, ...pod.initContainers]
  return use.containers.flatMap(({ name, memoryBytes, rootfs, logs }) => {
    const spec = specs.find((c) => c.name === name)
    const used =
      resource === 'memory'
        ? memoryBytes
        : resource === 'ephemeral-storage' && rootfs !== undefined && logs !== undefined
          ? rootfs.bytes + logs.bytes
          : undefined
    const request: Quantity = spec?.resources.requests.get(resource) ?? zeroQuantity
    if (spec === undefined || used === undefined || quantityOfBytes(used).nanos <= request.nanos) return []
    return [{ name, used: shown(used), request: formatQuantity(request) }]
  })
}
