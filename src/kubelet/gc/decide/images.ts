// Which images are removed: unused ones, the longest unused first, as many as bring the file system back below its low
// threshold. Pinned images, those in use and those that were found a moment ago stay.

export interface SeenImage {
  readonly id: string
  readonly sizeBytes: bigint
  /** The runtime needs it: the image of sandboxes, and what an administrator has pinned. */
  readonly pinned: boolean
}

interface ImageRecord extends SeenImage {
  readonly foundNanos: bigint
  /** 0: not since the kubelet has started. */
  readonly lastUsedNanos: bigint
}

export type ImageRecords = ReadonlyMap<string, ImageRecord>

export interface ImagePolicy {
  readonly highPercent: number
  readonly lowPercent: number
  readonly minimumAgeMs: number
  /** 0: age is no reason. */
  readonly maximumAgeMs: number
}

const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1e6))

/** What is known of each image that is there now. */
export function recordImages(
  known: ImageRecords,
  images: readonly SeenImage[],
  inUse: ReadonlySet<string>,
  nowNanos: bigint,
): ImageRecords {
  return new Map(
    images.map((image) => {
      const before = known.get(image.id)
      const lastUsedNanos = inUse.has(image.id) ? nowNanos : (before?.lastUsedNanos ?? 0n)
      return [image.id, { ...image, foundNanos: before?.foundNanos ?? nowNanos, lastUsedNanos }]
    }),
  )
}

/** Those that may go, the longest unused first; among those the longest known. */
function removable(records: ImageRecords, inUse: ReadonlySet<string>): readonly ImageRecord[] {
  return [...records.values()]
    .filter((image) => !image.pinned && !inUse.has(image.id))
    .sort((a, b) => compare(a.lastUsedNanos, b.lastUsedNanos) || compare(a.foundNanos, b.foundNanos))
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Images that were unused for imageMaximumGCAge. None before the kubelet itself has run for so long: it does not know what was
 * used before.
 */
export function imagesPastAge(
  records: ImageRecords,
  inUse: ReadonlySet<string>,
  { maximumAgeMs }: ImagePolicy,
  { nowNanos, beganNanos }: { readonly nowNanos: bigint; readonly beganNanos: bigint },
): readonly SeenImage[] {
  const age = nanos(maximumAgeMs)
  if (maximumAgeMs === 0 || nowNanos - beganNanos <= age) return []
  return removable(records, inUse).filter((image) => nowNanos - image.lastUsedNanos > age)
}

/** In the order in which they are to go until enough is free. */
export function imagesForSpace(
  records: ImageRecords,
  inUse: ReadonlySet<string>,
  { minimumAgeMs }: ImagePolicy,
  nowNanos: bigint,
): readonly SeenImage[] {
  // Just pulled: the container that needs it may not have been created yet.
  return removable(records, inUse).filter((image) => nowNanos - image.foundNanos >= nanos(minimumAgeMs))
}

interface Space {
  readonly capacityBytes: bigint
  readonly availableBytes: bigint
}

interface SpaceNeed {
  readonly usedPercent: number
  readonly bytes: bigint
}

/** Undefined: the usage is below the high threshold. */
export function spaceNeeded(
  { capacityBytes, availableBytes }: Space,
  { highPercent, lowPercent }: ImagePolicy,
): SpaceNeed | undefined {
  const available = availableBytes > capacityBytes ? capacityBytes : availableBytes
  const usedPercent = 100 - Number((available * 100n) / capacityBytes)
  if (usedPercent < highPercent) return undefined
  return { usedPercent, bytes: (capacityBytes * BigInt(100 - lowPercent)) / 100n - available }
}

/** Upstream's words. */
export const notEnoughFreed = (usedPercent: number, capacityBytes: bigint, freedBytes: bigint): string =>
  `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${formatSize(capacityBytes)} used). ` +
  `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). ` +
  'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.'

/** `19.5 GiB`: with the blank that upstream prints in this message alone. */
function formatSize(bytes: bigint): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = Number(bytes)
  let unit = 0
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024
  return unit === 0 ? `${bytes} B` : `${size.toFixed(1)} ${units[unit]}`
}
