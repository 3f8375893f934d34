// The cgroup driver of this process life: asks the runtime where the release says so, decides, and reports. Throws
// when the kubelet must not start.
import type { LoadedConfig } from '../../config/load.js'
import { formatOrigin, type Origin } from '../../config/origin.js'
import { type ConfiguredDriver, type DriverInUse, decideDriver } from '../../core/driver/decide-driver.js'
import { keelsonError } from '../../core/errors.js'
import { isGateEnabled } from '../../core/release/gates.js'
import { formatVersion } from '../../core/release/version.js'
import type { CriClient } from '../../ports/runtime.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { discoverDriver } from './discover-driver.js'
import { reportDriver } from './driver-report.js'

const sources: Readonly<Record<Origin['from'], ConfiguredDriver['source']>> = {
  default: 'default',
  file: 'config',
  'drop-in': 'dropin',
  flag: 'flag',
  runtime: 'default',
}

/** Up to 1.27 the runtime is not asked; after that the gate decides. */
export const asksRuntime = ({ config }: LoadedConfig): boolean =>
  isGateEnabled(config.gates, 'KubeletCgroupDriverFromCRI')

export async function settleDriver(
  loaded: LoadedConfig,
  client: CriClient,
  ports: Pick<KubeletPorts, 'clock' | 'log' | 'host'>,
  signal: AbortSignal,
): Promise<DriverInUse> {
  const { config } = loaded
  const { rules, configured, origin } = config.cgroupDriver
  const answer = asksRuntime(loaded)
    ? await discoverDriver({ ...ports, client, timeoutMs: config.kubelet.runtimeRequestTimeout, signal })
    : ({ kind: 'not-asked' } as const)
  const decision = decideDriver({
    answer,
    configured: { value: configured, source: sources[origin.from], place: formatOrigin(origin) },
    rules,
    kubernetes: formatVersion(config.version),
    os: ports.host.os,
    standalone: config.process.kubeconfig === undefined,
    socket: client.socketPath,
  })
  if (decision.kind === 'refused') throw keelsonError(decision.code, decision.message, { answer })
  reportDriver(decision, ports.log)
  return decision
}
