// The status of a pod and of its containers as the Kubernetes API has it: types only.

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export interface PodCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly lastProbeTime: null
  readonly lastTransitionTime: string
  readonly reason?: string
  readonly message?: string
}

export interface PodStatus {
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
  readonly containerStatuses: readonly ContainerStatusJson[]
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
  readonly containerID: string
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
}
