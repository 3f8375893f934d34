// API objects as they travel in JSON, reduced to the fields that a node reads or writes. Everything an API server may leave
// out is optional here, so that code has to say what it does without it. Times are RFC 3339 text, amounts are quantities.

interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

interface ObjectMeta {
  readonly name?: string
  /** In place of a name: the API server adds to it. */
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
}

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

export interface NodeAddress {
  readonly type: string
  readonly address: string
}

export interface NodeCondition {
  readonly type: string
  readonly status: string
  readonly lastHeartbeatTime?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

interface NodeSystemInfo {
  readonly machineID: string
  readonly systemUUID: string
  readonly bootID: string
  readonly kernelVersion: string
  readonly osImage: string
  readonly containerRuntimeVersion: string
  readonly kubeletVersion: string
  /** Deprecated, kept empty: the field has no `omitempty`. */
  readonly kubeProxyVersion: string
  readonly operatingSystem: string
  readonly architecture: string
  readonly swap?: { readonly capacity: number }
  readonly runningInUserNamespace?: boolean
}

export interface NodeRuntimeHandler {
  readonly name?: string
  readonly features?: { readonly recursiveReadOnlyMounts?: boolean; readonly userNamespaces?: boolean }
}

export interface NodeStatus {
  readonly capacity?: Readonly<Record<string, string>>
  readonly allocatable?: Readonly<Record<string, string>>
  readonly conditions?: readonly NodeCondition[]
  readonly addresses?: readonly NodeAddress[]
  readonly daemonEndpoints?: { readonly kubeletEndpoint: { readonly Port: number } }
  readonly nodeInfo?: Partial<NodeSystemInfo>
  readonly images?: readonly { readonly names: readonly string[]; readonly sizeBytes?: number }[]
  readonly volumesInUse?: readonly string[]
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[]
  readonly features?: { readonly supplementalGroupsPolicy?: boolean }
  readonly declaredFeatures?: readonly string[]
}

export interface KubeNode extends KubeObject {
  readonly spec?: {
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
    readonly providerID?: string
    readonly taints?: readonly Taint[]
    readonly unschedulable?: boolean
  }
  readonly status?: NodeStatus
}

/** Its status as this kubelet or anything else wrote it: nothing of it can be relied on. */
export interface KubePod extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>> & { readonly phase?: string }
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly renewTime?: string
  }
}

export interface CertificateSigningRequest extends KubeObject {
  readonly spec?: {
    /** Base64 of the PEM. */
    readonly request?: string
    readonly signerName?: string
    readonly usages?: readonly string[]
    readonly expirationSeconds?: number
    readonly username?: string
  }
  readonly status?: {
    /** Base64 of the PEM. */
    readonly certificate?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status?: string
      readonly reason?: string
      readonly message?: string
    }[]
  }
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface Secret extends KubeObject {
  readonly type?: string
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface RuntimeClass extends KubeObject {
  readonly handler?: string
}

export interface KubeService extends KubeObject {
  readonly spec?: {
    readonly type?: string
    readonly clusterIP?: string
    readonly ports?: readonly {
      readonly name?: string
      readonly protocol?: string
      readonly port: number
    }[]
  }
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: { readonly volumeName?: string }
  readonly status?: { readonly phase?: string }
}

export interface PersistentVolume extends KubeObject {
  /** One more field names the kind of the volume where it is none of these. */
  readonly spec?: {
    readonly claimRef?: { readonly uid?: string }
    readonly volumeMode?: string
    readonly hostPath?: { readonly path: string; readonly type?: string }
    readonly local?: { readonly path: string }
    /** Nodes that can reach it; terms as in a pod's node affinity. */
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms?: readonly object[] } }
  }
}

export interface ClusterTrustBundle extends KubeObject {
  readonly spec?: { readonly signerName?: string; readonly trustBundle?: string }
}

/** Body and answer of serviceaccounts/token. */
export interface TokenRequest extends KubeObject {
  readonly spec: {
    readonly audiences: readonly string[]
    readonly expirationSeconds?: number
    readonly boundObjectRef: {
      readonly apiVersion: string
      readonly kind: string
      readonly name: string
      readonly uid: string
    }
  }
  readonly status?: { readonly token: string; readonly expirationTimestamp: string }
}
