// Everything the checks look at, as plain values read once. What could not be read is undefined, never a guess.

import type { LoadedConfig } from '../config/load.js'
import type { CgroupMode } from '../core/cgroup/layout.js'
import type { CgroupDriver } from '../core/cgroup/name.js'
import type { ValuesMode } from '../core/cri/values-mode.js'
import type { RuntimeConfigAnswer } from '../core/driver/decide-driver.js'
import type { HandlerSetting } from '../core/driver/evidence.js'
import type { SandboxCgroup } from '../core/driver/proof.js'
import type { KubernetesVersion } from '../core/release/version.js'
import type { HostFacts, RuntimeAnswer } from '../ports/bootstrap.js'
import type { FileMode, KubeletProcess, PortAnswer } from '../ports/diagnosis.js'
import type { ClusterFacts } from './cluster-facts.js'
import type { PodCgroup } from './pod-cgroup.js'
import type { SocketStatus } from './socket-places.js'

export interface MachineFacts {
  readonly memoryBytes: bigint
  readonly swapBytes: bigint
  readonly pageSize: bigint
  readonly psi: boolean
  readonly systemd: boolean
}

export interface CgroupFacts {
  readonly mode: CgroupMode
  /** At the root of the hierarchy. */
  readonly controllers: readonly string[]
  /** Controllers that kubepods has, where there is one. */
  readonly podControllers: readonly string[] | undefined
  /** Mount option memory_recursiveprot. */
  readonly recursiveProtection: boolean
  /** Children of the root with their memory.min. */
  readonly topLevel: readonly { readonly path: string; readonly min: bigint }[]
  /** kubepods, kubepods.slice and everything below, seen twice; empty on v1, which has none of these files. */
  readonly pods: readonly PodCgroup[]
  /** Pod trees that exist. */
  readonly podTrees: Readonly<Record<CgroupDriver, string | undefined>>
  /** Time between the two looks. */
  readonly intervalMs: number
}

export interface RunningContainer {
  readonly id: string
  /** `namespace/pod/container` */
  readonly name: string
  /** What CreateContainer was given; undefined: the runtime does not show it. */
  readonly unified: Readonly<Record<string, string>> | undefined
}

export type MetricDescriptors =
  | { readonly kind: 'listed'; readonly names: readonly string[] }
  | { readonly kind: 'unimplemented' }
  | { readonly kind: 'failed'; readonly reason: string }

/** What `keelson cri` in front of the runtime says about itself. */
export interface CriServerFacts {
  readonly values: ValuesMode
  /** Wrong values of the runtime that it replaced or left out, by reason. */
  readonly repaired: Readonly<Record<string, number>>
}

/** What a runtime that answers says about itself and its pods. */
export interface RuntimeFacts {
  readonly driver: RuntimeConfigAnswer
  readonly conditions: readonly {
    readonly type: string
    readonly status: boolean
    readonly message: string
  }[]
  readonly handlers: readonly HandlerSetting[]
  readonly sandboxes: readonly SandboxCgroup[]
  readonly populated: Readonly<Record<CgroupDriver, boolean>>
  readonly containers: readonly RunningContainer[]
  readonly descriptors: MetricDescriptors
  /** Undefined: no `keelson cri` answers at the endpoint, or one that does not say. */
  readonly criServer: CriServerFacts | undefined
}

export interface KubeletFacts {
  /** Undefined: none runs. */
  readonly process: KubeletProcess | undefined
  /** Files and flags that a kubelet on this node uses, or would use; defaults where there is nothing. */
  readonly loaded: LoadedConfig
  /** Where `loaded` is from: `process 812`, a file's path, or undefined when there is no trace of a kubelet. */
  readonly source: string | undefined
  /** Why the files could not be used. */
  readonly unreadable: string | undefined
  readonly ports: readonly PortAnswer[]
  readonly files: readonly FileMode[]
}

export interface DoctorFacts {
  readonly version: KubernetesVersion
  readonly host: HostFacts
  /** Undefined: /proc could not be read. */
  readonly machine: MachineFacts | undefined
  /** Undefined: no hierarchy is mounted, or it could not be read. */
  readonly cgroups: CgroupFacts | undefined
  readonly endpoint: string
  readonly endpointAnswers: boolean
  readonly endpointDenied: boolean
  /** It took longer than the doctor waits. */
  readonly runtimeLate: boolean
  readonly runtime: RuntimeAnswer | undefined
  readonly runtimeFacts: RuntimeFacts | undefined
  readonly listening: readonly string[]
  /** The endpoint flag of kubeadm-flags.env, where an instance file exists beside it. */
  readonly staleFlag: string | undefined
  readonly sockets: SocketStatus | undefined
  readonly kubelet: KubeletFacts
  /** Undefined: the kubelet has no kubeconfig. */
  readonly cluster: ClusterFacts | undefined
}
