// What protects this node, put together: garbage collection, eviction, node shutdown. The rest of the kubelet asks it for the
// conditions of the node and whether a new pod is taken.
import type { EffectiveConfig } from '../config/effective.js'
import type { PodSpec } from '../core/pod/spec/spec.js'
import type { CriClient } from '../ports/runtime.js'
import type { PressureStats } from '../stats/pressure.js'
import type { EventQueue } from './events/event-queue.js'
import { startNodeEviction } from './eviction/start-eviction.js'
import { startGc } from './gc/start-gc.js'
import type { KubeletPorts } from './kubelet-ports.js'
import type { Pressure } from './node/decide/conditions.js'
import { watchOom } from './node/watch-oom.js'
import type { RunningPods } from './pods/start-pods.js'
import { startNodeShutdown } from './shutdown/start-shutdown.js'

interface ProtectionInput {
  readonly config: EffectiveConfig
  readonly rootDir: string
  readonly runtime: CriClient
  readonly images: CriClient
  readonly pods: RunningPods
  readonly stats: PressureStats
  /** Undefined in standalone mode. */
  readonly events: EventQueue | undefined
  readonly ports: KubeletPorts
  readonly signal: AbortSignal
}

export interface Protection {
  pressure(): Pressure
  /** What keeps the node from being ready, in upstream's words. */
  unready(): readonly string[]
  /** Why a new pod is not taken now; undefined: it is. */
  rejects(spec: PodSpec): { readonly reason: string; readonly message: string } | undefined
  /** Called when the status of the node has to be reported at once. */
  onUrgent(listener: () => void): void
  /** Resolves when the signal is aborted; rejects when a part died of a bug. */
  readonly done: Promise<void>
}

export async function startProtection(i: ProtectionInput): Promise<Protection> {
  const { pods } = i
  let report = (): void => {}
  const gc = startGc({ ...i, removeLogLinks: () => pods.removeLogLinks() })
  const eviction = startNodeEviction({ ...i, images: gc.images })
  const shutdown = await startNodeShutdown({ ...i, onChange: () => report() })
  const { clock, log, kernelLog } = i.ports
  const oom = watchOom({
    kernel: kernelLog,
    clock,
    log,
    event: (event) => i.events?.record(event),
    signal: i.signal,
  })
  return {
    pressure: () => eviction.pressure(),
    unready: () => (shutdown?.isShuttingDown() === true ? ['node is shutting down'] : []),
    rejects: (spec) => shutdown?.rejects() ?? eviction.rejects(spec),
    onUrgent(listener) {
      report = listener
    },
    done: Promise.all([gc.done, eviction.done, shutdown?.done, oom]).then(() => undefined),
  }
}
