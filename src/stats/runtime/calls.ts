// The calls to the runtime that stats need, each with its deadline, unary or as a stream. Which form works is remembered
// until the runtime was restarted.
import { isKeelsonError } from '../../core/errors.js'
import type {
  Container,
  ContainerStats,
  FilesystemUsage,
  MetricDescriptor,
  PodSandbox,
  PodSandboxStats,
} from '../../cri-api/api.js'
import type { CallOptions, CriClient, PodMetrics } from '../../ports/runtime.js'
import { createImageNames } from './image-names.js'

export interface RuntimeCalls {
  /** `wait`: for a runtime that is unreachable, until the deadline. */
  sandboxes(signal: AbortSignal, wait?: boolean): Promise<readonly PodSandbox[]>
  containers(signal: AbortSignal, wait?: boolean): Promise<readonly Container[]>
  podStats(signal: AbortSignal): Promise<readonly PodSandboxStats[]>
  descriptors(signal: AbortSignal): Promise<readonly MetricDescriptor[]>
  podMetrics(signal: AbortSignal): Promise<readonly PodMetrics[]>
  /** `id`: only this container. */
  containerStats(signal: AbortSignal, id?: string): Promise<readonly ContainerStats[]>
  imageFilesystem(signal: AbortSignal): Promise<FilesystemUsage | undefined>
  /** Paths on the file systems of images and of writable layers; empty where the runtime does not say. */
  imageMountpoints(signal: AbortSignal): Promise<{ readonly image: string; readonly container: string }>
  /** The runtime was restarted: calls that it did not have are tried again. */
  forget(): void
}

interface RuntimeCallsOptions {
  readonly client: CriClient
  readonly imageClient?: CriClient
  /** Lists: names and states only. */
  readonly listTimeoutMs: number
  /** Values of all pods; a runtime may take seconds for them. */
  readonly statsTimeoutMs: number
  /** Gate CRIListStreaming. */
  readonly streaming: boolean
}

/** Some runtimes wrap the code of an unknown method as UNKNOWN and keep it only in the text. */
export function isUnimplemented(e: unknown): boolean {
  if (!isKeelsonError(e)) return false
  if (e.code === 'runtime.unimplemented') return true
  const { grpcCode, grpcMessage } = e.details
  return grpcCode === 'UNKNOWN' && /unimplemented|not implemented/i.test(String(grpcMessage))
}

const isTooLarge = (e: unknown): boolean => isKeelsonError(e) && e.code === 'runtime.too-large'

async function collect<M, T>(stream: AsyncIterable<M>, items: (message: M) => readonly T[]): Promise<T[]> {
  const all: T[] = []
  for await (const message of stream) all.push(...items(message))
  return all
}

export function createRuntimeCalls(o: RuntimeCallsOptions): RuntimeCalls {
  const { runtime } = o.client
  let streams = o.streaming
  /** Set when a unary answer was too large: from then on only the stream can work. */
  let tooLarge = false

  async function either<T>(
    unary: () => Promise<readonly T[]>,
    stream: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    if (streams || tooLarge)
      try {
        return await stream()
      } catch (e) {
        if (!isUnimplemented(e)) throw e
        streams = false
        tooLarge = false
      }
    try {
      return await unary()
    } catch (e) {
      if (!isTooLarge(e)) throw e
      tooLarge = true
      return await stream()
    }
  }
  const listed = (signal: AbortSignal, waitForReady = false): CallOptions => ({
    timeoutMs: o.listTimeoutMs,
    signal,
    waitForReady,
  })
  const measured = (signal: AbortSignal): CallOptions => ({ timeoutMs: o.statsTimeoutMs, signal })

  const imageNames = createImageNames(async (id, signal) => {
    const client = o.imageClient ?? o.client
    const { image } = await client.image.imageStatus({ image: { image: id } }, listed(signal))
    return image === undefined ? [] : [...image.repoTags, ...image.repoDigests]
  })

  return {
    sandboxes: (signal, wait) =>
      either(
        async () => (await runtime.listPodSandbox({}, listed(signal, wait))).items,
        () => collect(runtime.streamPodSandboxes({}, listed(signal, wait)), (m) => m.podSandboxes),
      ),
    async containers(signal, wait) {
      const containers = await either(
        async () => (await runtime.listContainers({}, listed(signal, wait))).containers,
        () => collect(runtime.streamContainers({}, listed(signal, wait)), (m) => m.containers),
      )
      return await imageNames.resolve(containers, signal)
    },
    podStats: (signal) =>
      either(
        // An empty filter makes containerd list only the ready ones.
        async () => (await runtime.listPodSandboxStats({ filter: {} }, measured(signal))).stats,
        () =>
          collect(runtime.streamPodSandboxStats({ filter: {} }, measured(signal)), (m) => m.podSandboxStats),
      ),
    descriptors: async (signal) => (await runtime.listMetricDescriptors({}, listed(signal))).descriptors,
    podMetrics: (signal) =>
      either(
        () => o.client.metrics.list(measured(signal)),
        () => collect(o.client.metrics.stream(measured(signal)), (pods) => pods),
      ),
    containerStats: (signal, id = '') =>
      either(
        async () => (await runtime.listContainerStats({ filter: { id } }, measured(signal))).stats,
        () =>
          collect(
            runtime.streamContainerStats({ filter: { id } }, measured(signal)),
            (m) => m.containerStats,
          ),
      ),
    imageFilesystem: async (signal) =>
      (await (o.imageClient ?? o.client).image.imageFsInfo({}, measured(signal))).imageFilesystems[0],
    async imageMountpoints(signal) {
      const answer = await (o.imageClient ?? o.client).image.imageFsInfo({}, listed(signal))
      const image = answer.imageFilesystems[0]?.fsId?.mountpoint ?? ''
      return { image, container: answer.containerFilesystems[0]?.fsId?.mountpoint ?? image }
    },
    forget() {
      imageNames.forget()
      streams = o.streaming
      tooLarge = false
    },
  }
}
