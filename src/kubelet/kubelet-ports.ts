// Every way to the outside that the kubelet is handed. The command puts adapters in, tests put fakes in.
import type { CgroupDriver } from '../core/cgroup/name.js'
import type { LiveWarning } from '../core/dashboard/model.js'
import type { Certificates } from '../ports/certificates.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { Files } from '../ports/files.js'
import type { Host, Programs } from '../ports/host.js'
import type { RelayUpgrade } from '../ports/http.js'
import type { KubeApi } from '../ports/kube-api.js'
import type { KubeCalls } from '../ports/kube-calls.js'
import type { Kubeconfigs } from '../ports/kubeconfigs.js'
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { ProbeCalls } from '../ports/network/probe-calls.js'
import type { NodeHost } from '../ports/node-host.js'
import type { PodHost } from '../ports/pod-host.js'
import type { VolumeHost } from '../ports/pods/volume-host.js'
import type { KernelLog, Procfs } from '../ports/procfs.js'
import type { CriClient } from '../ports/runtime.js'
import type { StatsFiles } from '../ports/stats-files.js'
import type { Logind } from '../ports/systemd.js'
import type { LivePorts } from '../serve/dashboard/create-dashboard.js'
import type { Endpoint } from '../serve/endpoint.js'
import type { ConfigzContent } from '../serve/endpoints/configz.js'
import type { HealthCheck } from '../serve/health.js'
import type { ServeSettings } from '../serve/settings.js'
import type { RunningServer } from '../serve/start-server.js'
import type { LookHere } from '../stats/runtime/local-look.js'

export interface KubeletServeOptions {
  readonly settings: ServeSettings
  readonly endpoints: readonly Endpoint[]
  readonly healthChecks: readonly HealthCheck[]
  readonly configz: () => ConfigzContent
  readonly metrics: Metrics
  readonly log: Log
  readonly clock: Clock
  readonly api?: KubeCalls
}

/** What the dashboard needs beyond the kubelet's other ports. */
export interface KubeletLivePorts extends LivePorts {
  readonly version: string
  /** The doctor's findings; a kubelet may not call the doctor itself. */
  diagnose(signal: AbortSignal): Promise<readonly LiveWarning[]>
}

export interface OpenedCgroups {
  readonly tree: CgroupTree
  /** Ends kept descriptors, and the connection to systemd where there is one. */
  close(): void | Promise<void>
}

export interface KubeletPorts {
  /** Of this program. */
  readonly version: string
  readonly nodeHost: NodeHost
  readonly procfs: Procfs
  readonly statsFiles: StatsFiles
  readonly files: Files
  readonly podHost: PodHost
  readonly volumeHost: VolumeHost
  readonly programs: Programs
  readonly host: Host
  readonly logind: Logind
  readonly kernelLog: KernelLog
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Of probes, which have an endpoint of their own. */
  readonly probeMetrics: Metrics
  readonly probeCalls: ProbeCalls
  /** Undefined: no dashboard is served. */
  readonly live?: KubeletLivePorts
  connect(endpoint: string, timeoutMs: number): CriClient
  /** Where the CRI server runs in this process. */
  readonly lookHere?: LookHere
  /** Called once the driver is known, never before. */
  openCgroups(driver: CgroupDriver): OpenedCgroups
  readonly certificates: Certificates
  readonly kubeconfigs: Kubeconfigs
  readonly relayUpgrade: RelayUpgrade
  /** `pairFile`: the certificate with its key that is used while the file is there. */
  openKubeApi(kubeconfig: string, pairFile?: string): Promise<KubeApi>
  serve(options: KubeletServeOptions): Promise<Pick<RunningServer, 'url' | 'port' | 'close'>>
}
