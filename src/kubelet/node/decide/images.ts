// Images of the node for its status: the largest first, so that the scheduler knows what would be slow to pull.
import type { NodeStatus } from '../../../core/kube/objects.js'
import type { Image } from '../../../cri-api/api.js'

const maxNames = 5

/** `max` -1: all. */
export function decideImages(
  images: readonly Pick<Image, 'id' | 'repoTags' | 'repoDigests' | 'size'>[],
  max: number,
): NonNullable<NodeStatus['images']> {
  const sorted = [...images].sort((a, b) =>
    a.size === b.size ? (a.id > b.id ? -1 : 1) : a.size > b.size ? -1 : 1,
  )
  return (max < 0 ? sorted : sorted.slice(0, max)).map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, maxNames),
    sizeBytes: Number(size),
  }))
}
