// How large a volume in memory may become, and which huge pages one is made of.
import { allContainers, type PodResources, resourcesOf } from '../../../core/pod/pod.js'
import { parseQuantity, quantityValue } from '../../../core/units/quantity.js'
import { volumeProblem } from './files-of-volume.js'

interface MemorySizeInput {
  readonly allocatableMemory: bigint
  /** Of the pod's cgroup; undefined: none. */
  readonly podLimit: bigint | undefined
  readonly sizeLimit: bigint | undefined
}

/** The smallest of what the node can give, what the pod may use and what the volume may have; 0 is no limit. */
export const memoryVolumeSize = ({ allocatableMemory, podLimit, sizeLimit }: MemorySizeInput): bigint =>
  [podLimit, sizeLimit].reduce<bigint>(
    (size, limit) => (limit !== undefined && limit > 0n && limit < size ? limit : size),
    allocatableMemory,
  )

/** Bytes; the size that the medium names, or the only one that the pod asks for. */
export function hugePageSize(pod: PodResources, pageSize: bigint | undefined): bigint {
  const lists = [
    ...allContainers(pod).map(resourcesOf),
    ...(pod.resources === undefined ? [] : [pod.resources]),
  ]
  const asked = new Set(
    lists.flatMap(({ requests }) =>
      [...requests.keys()].flatMap((name) =>
        name.startsWith('hugepages-') ? [quantityValue(parseQuantity(name.slice('hugepages-'.length)))] : [],
      ),
    ),
  )
  if (pageSize === undefined && asked.size > 1)
    throw volumeProblem("medium: HugePages can't be used if container requests multiple huge page sizes")
  const [only] = asked
  const size = pageSize ?? only
  if (size === undefined || !asked.has(size))
    throw volumeProblem('hugePages storage requested, but there is no resource request for huge pages')
  return size
}
