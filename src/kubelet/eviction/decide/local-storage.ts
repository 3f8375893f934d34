// Pods that use more local storage than they may: an emptyDir above its sizeLimit, a pod or a container above its limit of
// ephemeral storage. They are evicted whether the node is short or not.
import type { PodResources } from '../../../core/pod/pod.js'
import { podLimits } from '../../../core/pod/resources.js'
import { formatQuantity, parseQuantity, type Quantity, quantityValue } from '../../../core/units/quantity.js'
import type { PodUse } from './pod-usage.js'

/** As the metric kubelet_evictions names them. */
type LocalLimit = 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit'

interface LimitExceeded {
  readonly limit: LocalLimit
  readonly message: string
}

interface LimitedPod {
  readonly pod: PodResources
  /** spec.volumes as written. */
  readonly volumes: unknown
}

/** Undefined: the pod is within its limits. */
export function localStorageExceeded(
  { pod, volumes }: LimitedPod,
  use: PodUse,
  imagesApart: boolean,
): LimitExceeded | undefined {
  return emptyDirExceeded(volumes, use) ?? podExceeded(pod, use) ?? containerExceeded(pod, use, imagesApart)
}

function emptyDirExceeded(volumes: unknown, use: PodUse): LimitExceeded | undefined {
  for (const { name, limit } of emptyDirLimits(volumes)) {
    const used = use.volumes.get(name)?.bytes
    if (used === undefined || limit.nanos <= 0n || used <= quantityValue(limit)) continue
    const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(formatQuantity(limit))}. `
    return { limit: 'emptydirfs.limit', message }
  }
  return undefined
}

/** Those on disk; the size of one in memory is the kernel's business. */
function emptyDirLimits(volumes: unknown): readonly { readonly name: string; readonly limit: Quantity }[] {
  if (!Array.isArray(volumes)) return []
  return volumes.flatMap((volume: unknown) => {
    const { name, emptyDir } = record(volume)
    const { sizeLimit, medium } = record(emptyDir)
    const isText = typeof sizeLimit === 'string' || typeof sizeLimit === 'number'
    return typeof name === 'string' && isText && medium !== 'Memory'
      ? [{ name, limit: parseQuantity(String(sizeLimit)) }]
      : []
  })
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

function podExceeded(pod: PodResources, { ephemeralBytes }: PodUse): LimitExceeded | undefined {
  const limit = podLimits(pod).get('ephemeral-storage')
  if (limit === undefined || ephemeralBytes === undefined || ephemeralBytes <= quantityValue(limit))
    return undefined
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `
  return { limit: 'ephemeralpodfs.limit', message }
}

function containerExceeded(pod: PodResources, use: PodUse, imagesApart: boolean): LimitExceeded | undefined {
  const limited = [...pod.containers, ...pod.initContainers.filter((c) => c.type === 'sidecar')]
  for (const { name, resources } of limited) {
    const limit = resources.limits.get('ephemeral-storage')
    const used = use.containers.find((c) => c.name === name)
    if (limit === undefined || limit.nanos === 0n || used === undefined) continue
    // Upstream leaves writable layers out where they are on another file system.
    const bytes = (used.logs?.bytes ?? 0n) + (imagesApart ? 0n : (used.rootfs?.bytes ?? 0n))
    if (bytes <= quantityValue(limit)) continue
    const message = `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(formatQuantity(limit))}. `
    return { limit: 'ephemeralcontainerfs.limit', message }
  }
  return undefined
}
