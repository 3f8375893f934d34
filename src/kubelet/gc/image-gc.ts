// Removes unused images: each five minutes when the image file system is fuller than imageGCHighThresholdPercent, by age when
// imageMaximumGCAge is set, and all of them when the eviction manager needs the space.
import { sandboxImages } from '../../core/cri/verbose-status.js'
import { asKeelsonError, rethrowBug } from '../../core/errors.js'
import { pause } from '../../core/units/retry.js'
import type { Image } from '../../cri-api/api.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { ImageService, RuntimeService } from '../../ports/runtime.js'
import type { FsCapacity } from '../../ports/stats-files.js'
import type { NewEvent } from '../events/event-queue.js'
import {
  type ImagePolicy,
  type ImageRecords,
  imagesForSpace,
  imagesPastAge,
  notEnoughFreed,
  recordImages,
  type SeenImage,
  spaceNeeded,
} from './decide/images.js'

interface ImageGcOptions {
  readonly images: Pick<ImageService, 'listImages' | 'removeImage' | 'imageFsInfo'>
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'containerStatus' | 'status'>
  /** Of the file system under a path; undefined: no such path. */
  readonly capacity: (path: string) => Promise<FsCapacity | undefined>
  readonly policy: ImagePolicy
  /** About the node. */
  readonly event: (event: NewEvent) => void
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly timeoutMs: number
}

export interface ImageGc {
  /** One round. Resolves with why it was not enough, in upstream's words; undefined: it was. */
  collect(signal: AbortSignal): Promise<string | undefined>
  /** Every image that is not in use and old enough. Resolves with the bytes that they had. */
  removeUnused(signal: AbortSignal): Promise<bigint>
  /** Ends with the signal. */
  run(signal: AbortSignal): Promise<void>
}

const everyMs = 300_000

interface Looked {
  readonly records: ImageRecords
  readonly inUse: ReadonlySet<string>
  readonly nowNanos: bigint
}

export function createImageGc(o: ImageGcOptions): ImageGc {
  const { clock, log, policy } = o
  const removed = o.metrics.counter(
    'kubelet_image_garbage_collected_total',
    'Total number of images garbage collected by the kubelet, whether through disk usage or image age.',
    ['reason'],
  )
  const beganNanos = clock.nowNanos()
  let records: ImageRecords = new Map()

  const look = async (signal: AbortSignal): Promise<Looked> => {
    const nowNanos = clock.nowNanos()
    const { images } = await o.images.listImages({}, { timeoutMs: o.timeoutMs, signal })
    const names = await namesInUse(o, signal)
    const isUsed = ({ id, repoTags, repoDigests }: Image): boolean =>
      [id, ...repoTags, ...repoDigests].some((name) => names.has(name))
    const inUse = new Set(images.filter(isUsed).map(({ id }) => id))
    const seen = images.map(({ id, size, pinned }): SeenImage => ({ id, sizeBytes: size, pinned }))
    records = recordImages(records, seen, inUse, nowNanos)
    return { records, inUse, nowNanos }
  }

  /** One after the other until `enough` is free; what cannot be removed is left, and the first reason is thrown in the end. */
  const removeAll = async (
    images: readonly SeenImage[],
    reason: 'age' | 'space',
    enough: bigint | undefined,
    signal: AbortSignal,
  ): Promise<bigint> => {
    let freed = 0n
    let failure: unknown
    const mounted = images.length === 0 ? new Set<string>() : await mountedImages(o, signal)
    for (const { id, sizeBytes } of images.filter((image) => !mounted.has(image.id))) {
      if (enough !== undefined && freed >= enough) break
      try {
        log.info('removing an unused image', { image: id, bytes: sizeBytes, reason })
        await o.images.removeImage({ image: { image: id } }, { timeoutMs: o.timeoutMs, signal })
        freed += sizeBytes
        removed.inc({ reason })
      } catch (e) {
        signal.throwIfAborted()
        failure ??= rethrowBug(e)
      }
    }
    if (failure !== undefined) throw failure
    return freed
  }

  const imageFilesystem = async (signal: AbortSignal): Promise<FsCapacity | undefined> => {
    const { imageFilesystems } = await o.images.imageFsInfo({}, { timeoutMs: o.timeoutMs, signal })
    const mountpoint = imageFilesystems[0]?.fsId?.mountpoint ?? ''
    const found = mountpoint === '' ? undefined : await o.capacity(mountpoint)
    return found === undefined || found.capacityBytes === 0n ? undefined : found
  }
  const failed = (reason: string, message: string): string => {
    o.event({ type: 'Warning', reason, message })
    return message
  }

  const collect = async (signal: AbortSignal): Promise<string | undefined> => {
    const { inUse, ...first } = await look(signal)
    const tooOld = imagesPastAge(first.records, inUse, policy, { ...first, beganNanos })
    await removeAll(tooOld, 'age', undefined, signal)
    const fs = await imageFilesystem(signal)
    if (fs === undefined) return failed('InvalidDiskCapacity', 'invalid capacity 0 on image filesystem')
    const need = spaceNeeded(fs, policy)
    if (need === undefined) return undefined
    log.info('image file system usage is above the high threshold; removing unused images', {
      usedPercent: need.usedPercent,
      bytesToFree: need.bytes,
    })
    const gone = new Set(tooOld.map(({ id }) => id))
    const candidates = imagesForSpace(first.records, inUse, policy, first.nowNanos)
    const freed = await removeAll(
      candidates.filter(({ id }) => !gone.has(id)),
      'space',
      need.bytes,
      signal,
    )
    return freed >= need.bytes
      ? undefined
      : failed('FreeDiskSpaceFailed', notEnoughFreed(need.usedPercent, fs.capacityBytes, freed))
  }

  return {
    collect,
    async removeUnused(signal) {
      const { records: now, inUse, nowNanos } = await look(signal)
      return removeAll(imagesForSpace(now, inUse, policy, nowNanos), 'space', undefined, signal)
    },
    async run(signal) {
      let failures = 0
      const round = async (): Promise<string | undefined> => {
        try {
          // With both off the images are still looked at: reclaiming space needs to know which were used last.
          if (policy.highPercent < 100 || policy.maximumAgeMs > 0) return await collect(signal)
          await look(signal)
          return undefined
        } catch (e) {
          return rethrowBug(e).message
        }
      }
      while (!signal.aborted) {
        const problem = await round()
        if (signal.aborted) return
        failures = problem === undefined ? 0 : failures + 1
        // As upstream: once may be a runtime that has just started.
        if (problem !== undefined)
          log.warn('image garbage collection failed; retrying', { problem, failures })
        if (problem !== undefined && failures > 1)
          o.event({ type: 'Warning', reason: 'ImageGCFailed', message: problem })
        await pause(clock, everyMs, signal)
      }
    },
  }
}

/** Of every container, ended ones too: a container may be started again from the image that it was created from. */
async function namesInUse(
  { runtime, timeoutMs }: Pick<ImageGcOptions, 'runtime' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const options = { timeoutMs, signal }
  const { containers } = await runtime.listContainers({}, options)
  // Runtimes that do not pin the image of their sandboxes name it in their status.
  const { info } = await runtime.status({ verbose: true }, options)
  const inUse = new Set(sandboxImages(info['config']))
  for (const { imageId, imageRef, image } of containers) {
    for (const name of [imageId, imageRef, image?.image])
      if (name !== undefined && name !== '') inUse.add(name)
  }
  return inUse
}

/** Ids of images that containers have mounted as volumes; asked for only when images are to go. */
async function mountedImages(
  { runtime, timeoutMs }: Pick<ImageGcOptions, 'runtime' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const options = { timeoutMs, signal }
  const { containers } = await runtime.listContainers({}, options)
  const mounted = new Set<string>()
  for (const { id } of containers)
    for (const image of await imageVolumes(id, runtime, options)) mounted.add(image)
  return mounted
}

async function imageVolumes(
  containerId: string,
  runtime: Pick<RuntimeService, 'containerStatus'>,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  try {
    const { status } = await runtime.containerStatus({ containerId }, options)
    return (status?.mounts ?? []).flatMap(({ image }) => (image === undefined ? [] : [image.image]))
  } catch (e) {
    if (asKeelsonError(e).code === 'runtime.not-found') return []
    throw e
  }
}
