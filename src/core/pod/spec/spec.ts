// A Pod as a node runs it: every field that this node carries out, read, checked and with defaults filled in. What the
// pod asks for in cpu and memory is `pod` (pod.ts); the reading itself is parse-pod-spec.ts.
import type { PodResources } from '../pod.js'
import type { Hooks, Probes, RestartRule } from './handlers.js'
import type { Volume, VolumeMount } from './volume.js'

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never'
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never'
export type Protocol = 'TCP' | 'UDP' | 'SCTP'
type TerminationMessagePolicy = 'File' | 'FallbackToLogsOnError'

export interface PodSpec {
  /** Names, annotations and resources, defaults applied. */
  readonly pod: PodResources
  readonly labels: ReadonlyMap<string, string>
  readonly restartPolicy: RestartPolicy
  readonly terminationGracePeriodSeconds: number
  /** Seconds from status.startTime after which the pod is killed; undefined: never. */
  readonly activeDeadlineSeconds: number | undefined
  /** Types of conditions that others set and that readiness waits for. */
  readonly readinessGates: readonly string[]
  readonly hostNetwork: boolean
  readonly hostPID: boolean
  readonly hostIPC: boolean
  readonly shareProcessNamespace: boolean
  /** Undefined: the pod's name. */
  readonly hostname: string | undefined
  /** In place of the pod's name and domain. */
  readonly hostnameOverride: string | undefined
  /** With it the pod has a domain: `SUBDOMAIN.NAMESPACE.svc.CLUSTER-DOMAIN`. */
  readonly subdomain: string | undefined
  /** The kernel's name of the host is the name with the domain. */
  readonly setHostnameAsFQDN: boolean
  readonly hostAliases: readonly HostAlias[]
  readonly dns: DnsSpec
  /** Empty for a pod of a file. */
  readonly serviceAccountName: string
  /** Undefined: the node's default. */
  readonly runtimeClassName: string | undefined
  /** Secrets with credentials of registries, in the pod's namespace. */
  readonly imagePullSecrets: readonly string[]
  /** Whether services of the namespace become variables. */
  readonly enableServiceLinks: boolean
  readonly security: PodSecurity
  readonly volumes: readonly Volume[]
  /** Init containers and sidecars, in order. */
  readonly initContainers: readonly ContainerSpec[]
  readonly containers: readonly ContainerSpec[]
  /** Debug containers, added to a running pod; started once. */
  readonly ephemeralContainers: readonly ContainerSpec[]
  /** metadata.labels, .annotations and spec as written, for what people and tools read back. */
  readonly document: PodDocument
}

interface PodDocument {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec: Readonly<Record<string, unknown>>
}

export interface HostAlias {
  readonly ip: string
  readonly hostnames: readonly string[]
}

export interface DnsSpec {
  readonly policy: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None'
  readonly nameservers: readonly string[]
  readonly searches: readonly string[]
  /** `ndots:5`, `rotate`. */
  readonly options: readonly string[]
}

export type SeccompProfile =
  | { readonly type: 'RuntimeDefault' | 'Unconfined' }
  | { readonly type: 'Localhost'; readonly localhostProfile: string }

/** A label of the process; a runtime on a node without SELinux ignores it. */
export interface SeLinuxOptions {
  readonly user: string
  readonly role: string
  readonly type: string
  readonly level: string
}

export interface UserSettings {
  readonly runAsUser: number | undefined
  readonly runAsGroup: number | undefined
  readonly runAsNonRoot: boolean | undefined
  readonly seccomp: SeccompProfile | undefined
  readonly appArmor: SeccompProfile | undefined
  readonly seLinux: SeLinuxOptions | undefined
}

export interface PodSecurity extends UserSettings {
  readonly supplementalGroups: readonly number[]
  readonly supplementalGroupsPolicy: 'Merge' | 'Strict'
  readonly fsGroup: number | undefined
  readonly fsGroupChangePolicy: 'Always' | 'OnRootMismatch'
  readonly sysctls: ReadonlyMap<string, string>
}

export interface ContainerSecurity extends UserSettings {
  readonly privileged: boolean
  readonly addCapabilities: readonly string[]
  readonly dropCapabilities: readonly string[]
  readonly readOnlyRootFilesystem: boolean
  readonly allowPrivilegeEscalation: boolean | undefined
}

export interface ContainerSpec {
  readonly name: string
  readonly kind: 'init' | 'sidecar' | 'app' | 'ephemeral'
  /** Of an ephemeral container: whose processes it sees. */
  readonly target?: string | undefined
  /** Its own; undefined: the pod's counts. */
  readonly restartPolicy: RestartPolicy | undefined
  /** By exit code, before any policy; the first that matches counts. */
  readonly restartRules: readonly RestartRule[]
  readonly probes: Probes
  readonly hooks: Hooks
  readonly image: string
  readonly pullPolicy: PullPolicy
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly workingDir: string | undefined
  /** In order, before `env`. */
  readonly envFrom: readonly EnvFrom[]
  readonly env: readonly EnvVar[]
  readonly ports: readonly ContainerPort[]
  readonly mounts: readonly VolumeMount[]
  readonly security: ContainerSecurity
  readonly terminationMessagePath: string
  readonly terminationMessagePolicy: TerminationMessagePolicy
  readonly stdin: boolean
  readonly stdinOnce: boolean
  readonly tty: boolean
}

export type EnvVar =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fieldPath: string }
  | { readonly name: string; readonly resource: ResourceField }
  | { readonly name: string; readonly configMapKey: ObjectKey }
  | { readonly name: string; readonly secretKey: ObjectKey }
  | { readonly name: string; readonly fileKey: FileKey }

/** One value of a config map or a secret in the pod's namespace. */
export interface ObjectKey {
  readonly object: string
  readonly key: string
  readonly optional: boolean
}

export interface ResourceField {
  /** Undefined: the container that has the variable. */
  readonly container: string | undefined
  /** `limits.cpu`, `requests.memory`, `limits.hugepages-2Mi`. */
  readonly resource: string
  /** A quantity; `1` where none is given. */
  readonly divisor: string
}

/** One variable of a file that another container writes into an emptyDir. */
export interface FileKey {
  readonly volume: string
  /** Relative, without `..`. */
  readonly path: string
  readonly key: string
  readonly optional: boolean
}

/** All values of an object as variables, each name with the prefix. */
export interface EnvFrom {
  readonly kind: 'configMap' | 'secret'
  readonly object: string
  readonly optional: boolean
  readonly prefix: string
}

export interface ContainerPort {
  readonly name: string | undefined
  readonly containerPort: number
  readonly hostPort: number
  readonly hostIP: string
  readonly protocol: Protocol
}

export const allContainerSpecs = (spec: PodSpec): readonly ContainerSpec[] => [
  ...spec.initContainers,
  ...spec.containers,
  ...spec.ephemeralContainers,
]
