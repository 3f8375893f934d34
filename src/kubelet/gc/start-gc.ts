// Garbage collection of the node, from the configuration to its loops: unused images, and links to logs that have gone. Dead
// containers, sandboxes and directories of a pod are removed by the pod's worker, and by the runner when no worker is left.
import type { EffectiveConfig } from '../../config/effective.js'
import { pause } from '../../core/units/retry.js'
import type { CriClient } from '../../ports/runtime.js'
import type { EventQueue } from '../events/event-queue.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { createImageGc, type ImageGc } from './image-gc.js'

interface GcInput {
  readonly config: EffectiveConfig
  readonly runtime: CriClient
  readonly images: CriClient
  readonly ports: Pick<KubeletPorts, 'statsFiles' | 'clock' | 'log' | 'metrics'>
  /** Undefined in standalone mode: then the log is all there is. */
  readonly events: EventQueue | undefined
  /** Removes links to logs that have gone. */
  readonly removeLogLinks: () => Promise<void>
  readonly signal: AbortSignal
}

interface Gc {
  readonly images: ImageGc
  /** Resolves when the signal is aborted; rejects when a loop died of a bug. */
  readonly done: Promise<void>
}

const linksEveryMs = 60_000

export function startGc({ config, ports, signal, ...i }: GcInput): Gc {
  const { kubelet } = config
  const { statsFiles, clock, log } = ports
  const images = createImageGc({
    ...ports,
    images: i.images.image,
    runtime: i.runtime.runtime,
    capacity: (path) => statsFiles.capacity(path),
    policy: {
      highPercent: kubelet.imageGCHighThresholdPercent,
      lowPercent: kubelet.imageGCLowThresholdPercent,
      minimumAgeMs: kubelet.imageMinimumGCAge,
      maximumAgeMs: kubelet.imageMaximumGCAge,
    },
    event: (event) => {
      log.warn(event.message, { reason: event.reason })
      i.events?.record(event)
    },
    timeoutMs: kubelet.runtimeRequestTimeout,
  })
  const links = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(clock, linksEveryMs, signal)
      if (!signal.aborted) await i.removeLogLinks()
    }
  }
  return { images, done: Promise.all([images.run(signal), links()]).then(() => undefined) }
}
