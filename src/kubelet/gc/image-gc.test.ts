// Image garbage collection on a real containerd: what is in use and what the runtime needs stays, the rest goes.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { missingRequirement, requires } from '../../../test/support/requirements.js'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { createStatsFiles } from '../../adapters/stats-files/stats-files.js'
import { FakeLog } from '../../fakes/log.js'
import { cacheDirectory } from '../../lab/cache.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../lab/containerd/start-containerd.js'
import { ensureImages, imageReferences } from '../../lab/images/images.js'
import type { CriClient } from '../../ports/runtime.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import type { NewEvent } from '../events/event-queue.js'
import { createImageGc } from './image-gc.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const
const { signal } = new AbortController()
let containerd: PrivateContainerd
let archive = ''
let cri: CriClient

beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  archive = await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(120_000))
  containerd = await startPrivateContainerd({ archives: [archive] })
  cri = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
}, 120_000)
afterAll(async () => {
  cri?.close()
  await containerd?.close()
}, 120_000)
beforeEach((ctx) => requires(ctx, needs))

const tags = async (): Promise<string[]> => {
  const { images } = await cri.image.listImages({})
  return images.flatMap((image) => image.repoTags).sort()
}

/** A container that is only created holds its image as well. */
async function createContainer(image: string): Promise<() => Promise<unknown>> {
  const metadata = { name: 'gc', uid: 'gc', namespace: 'default', attempt: 0 }
  const config = { metadata, linux: { securityContext: { namespaceOptions: { network: 2 } } } }
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config })
  await cri.runtime.createContainer({
    podSandboxId,
    sandboxConfig: config,
    config: { metadata: { name: 'app', attempt: 0 }, image: { image }, command: ['/bin/sleep', '1d'] },
  })
  return () => cri.runtime.removePodSandbox({ podSandboxId })
}

async function imageGc(policy: { highPercent: number; lowPercent: number }) {
  const events: NewEvent[] = []
  const metrics = await createProcessMetrics({ processDefaults: false })
  const files = createStatsFiles()
  const gc = createImageGc({
    images: cri.image,
    runtime: cri.runtime,
    capacity: (path) => files.capacity(path),
    policy: { ...policy, minimumAgeMs: 0, maximumAgeMs: 0 },
    event: (event) => events.push(event),
    clock: createClock(),
    log: new FakeLog(),
    metrics,
    timeoutMs: 30_000,
  })
  return { gc, events, text: async () => (await metrics.text()).body }
}

test('a full image file system: unused images go, used ones and the sandbox image stay', async () => {
  const remove = await createContainer(imageReferences.busybox)
  try {
    const { gc, events, text } = await imageGc({ highPercent: 1, lowPercent: 0 })
    const problem = await gc.collect(signal)
    expect(await tags()).toEqual([imageReferences.busybox, imageReferences.pause])
    expect(problem).toMatch(/^Insufficient free disk space on the node's image filesystem \(\d+% of /)
    expect(events.map((e) => e.reason)).toEqual(['FreeDiskSpaceFailed'])
    expect(await text()).toContain('kubelet_image_garbage_collected_total{reason="space"} 2')
  } finally {
    await remove()
  }
}, 60_000)

test('below the high threshold nothing goes; asked for space everything unused does', async () => {
  await containerd.importImages(archive)
  const before = await tags()
  const { gc, events } = await imageGc({ highPercent: 100, lowPercent: 99 })
  expect(await gc.collect(signal)).toBeUndefined()
  expect(await tags()).toEqual(before)
  expect(await gc.removeUnused(signal)).toBeGreaterThan(0n)
  expect(await tags()).toEqual([imageReferences.pause])
  expect(events).toEqual([])
}, 60_000)
