// Node shutdown from the configuration to its loop; undefined where it is not configured.
import type { EffectiveConfig } from '../../config/effective.js'
import type { PodSpec } from '../../core/pod/spec/spec.js'
import { isGateEnabled } from '../../core/release/gates.js'
import type { EventQueue } from '../events/event-queue.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { shutdownPeriods } from './decide/groups.js'
import { openShutdownRecord } from './record.js'
import { type ShutdownOptions, startShutdown } from './shutdown.js'

interface NodeShutdownInput {
  readonly config: EffectiveConfig
  readonly rootDir: string
  readonly pods: { active(): readonly PodSpec[]; readonly kill: ShutdownOptions['pods']['kill'] }
  /** Undefined in standalone mode. */
  readonly events: EventQueue | undefined
  /** The status of the node is to be reported now. */
  readonly onChange: () => void
  readonly ports: Pick<KubeletPorts, 'logind' | 'files' | 'clock' | 'log' | 'metrics'>
  readonly signal: AbortSignal
}

interface NodeShutdown {
  isShuttingDown(): boolean
  /** Why a new pod is not taken now; undefined: it is. */
  rejects(): { readonly reason: string; readonly message: string } | undefined
  readonly done: Promise<void>
}

export async function startNodeShutdown(i: NodeShutdownInput): Promise<NodeShutdown | undefined> {
  const { kubelet, gates } = i.config
  const { logind, files, clock, log, metrics } = i.ports
  const periods = isGateEnabled(gates, 'GracefulNodeShutdown')
    ? shutdownPeriods(kubelet, isGateEnabled(gates, 'GracefulNodeShutdownBasedOnPodPriority'))
    : []
  if (periods.length === 0) return undefined
  const shutdown = startShutdown({
    periods,
    logind,
    fromAnySender: i.config.profile === 'upstream',
    pods: {
      active: () =>
        i.pods.active().map(({ pod, terminationGracePeriodSeconds }) => ({
          pod,
          graceSeconds: terminationGracePeriodSeconds,
        })),
      kill: i.pods.kill,
    },
    onChange: i.onChange,
    nodeEvent: (event) => i.events?.record(event),
    record: await openShutdownRecord({
      path: `${i.rootDir}/graceful_node_shutdown_state`,
      files,
      metrics,
      clock,
      log,
    }),
    clock,
    log,
    signal: i.signal,
  })
  return {
    ...shutdown,
    rejects: () =>
      shutdown.isShuttingDown()
        ? { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' }
        : undefined,
  }
}
