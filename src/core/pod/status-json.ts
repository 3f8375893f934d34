// The status of a pod and of its containers as the Kubernetes API has it: types only.

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export interface PodCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  /** metadata.generation of the pod that this was found for; static pods have none. */
  readonly observedGeneration?: number
  readonly lastProbeTime: null
  readonly lastTransitionTime: string
  readonly reason?: string
  readonly message?: string
}

export interface PodStatus {
  readonly observedGeneration?: number
  readonly phase: Phase
  readonly conditions: readonly PodCondition[]
  readonly message?: string
  readonly reason?: string
  readonly hostIP?: string
  readonly hostIPs?: readonly { readonly ip: string }[]
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip: string }[]
  readonly startTime: string
  readonly initContainerStatuses?: readonly ContainerStatusJson[]
  /** Empty for a pod that was rejected. */
  readonly containerStatuses: readonly ContainerStatusJson[]
  readonly ephemeralContainerStatuses?: readonly ContainerStatusJson[]
  readonly qosClass: string
}

export interface ContainerStateJson {
  readonly waiting?: { readonly reason: string; readonly message?: string }
  readonly running?: { readonly startedAt: string }
  readonly terminated?: TerminatedJson
}

export interface TerminatedJson {
  readonly exitCode: number
  readonly reason: string
  readonly message?: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly containerID?: string
}

export interface ContainerStatusJson {
  readonly name: string
  readonly state: ContainerStateJson
  readonly lastState: ContainerStateJson
  readonly ready: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
  readonly started: boolean
  readonly allocatedResources?: Readonly<Record<string, unknown>>
  readonly resources?: Readonly<Record<string, unknown>>
  readonly volumeMounts?: readonly VolumeMountStatusJson[]
  readonly user?: { readonly linux: LinuxUserJson }
}

export interface VolumeMountStatusJson {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: boolean
  readonly recursiveReadOnly?: 'Disabled' | 'Enabled'
}

interface LinuxUserJson {
  readonly uid: number
  readonly gid: number
  readonly supplementalGroups?: readonly number[]
}
