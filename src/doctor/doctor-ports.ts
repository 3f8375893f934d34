// Every way to the outside that the doctor is handed. The command puts adapters in, tests put fakes in.
import type { LoadedConfig } from '../config/load.js'
import type { RuntimeConfigAnswer } from '../core/driver/decide-driver.js'
import type { HostFacts } from '../ports/bootstrap.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { ClusterAnswer, Diagnosis, KubeletProcess } from '../ports/diagnosis.js'
import type { Procfs } from '../ports/procfs.js'
import type { CriClient } from '../ports/runtime.js'
import type { KubeletFacts, RuntimeFacts } from './facts.js'
import type { SocketStatus } from './socket-places.js'

export type FoundConfig = Pick<KubeletFacts, 'source' | 'unreadable'> & { readonly loaded: LoadedConfig }

export interface NodeSockets extends SocketStatus {
  readonly host: HostFacts
  readonly staleFlag: string | undefined
}

export type DriverEvidence = Pick<RuntimeFacts, 'sandboxes' | 'populated' | 'handlers'>

export interface DoctorPorts {
  readonly hostname: () => string
  /** The cluster's side, with the credentials of that kubeconfig; never throws. */
  askCluster(kubeconfig: string, nodeName: string, timeoutMs: number): Promise<ClusterAnswer>
  readonly procfs: Procfs
  readonly clock: Clock
  readonly diagnosis: Diagnosis
  hasSystemd(): boolean
  /** Error: cgroup.not-mounted. */
  openCgroups(): CgroupTree
  sockets(): Promise<NodeSockets>
  /** The configuration of that process, or of the kubelet that would run here. */
  findConfig(process: KubeletProcess | undefined): Promise<FoundConfig>
  connect(endpoint: string, timeoutMs: number): CriClient
  /** RuntimeConfig, asked once. */
  askDriver(client: CriClient, timeoutMs: number, signal: AbortSignal): Promise<RuntimeConfigAnswer>
  gatherEvidence(
    client: CriClient,
    cgroups: CgroupTree,
    cgroupRoot: string | undefined,
    signal: AbortSignal,
  ): Promise<DriverEvidence>
}
