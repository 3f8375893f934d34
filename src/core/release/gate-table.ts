// The feature gates that change what Keelson does, by Kubernetes minor and profile, and the numbers and words
// that go with their stages. Data only: feature-gates.ts and feature-rules.ts read it, nothing else asks.
// A history reads: from which minor; a alpha, b beta, g GA, d deprecated; + on, - off; ! locked; x removed.

import type { FormulaGeneration, ReservationPolicy } from '../memory-qos/settings.js'

export type Profile = 'kep' | 'upstream'
export const profiles: readonly Profile[] = ['kep', 'upstream']

export type GateComponent = 'kubelet' | 'kubeadm'

export interface GateRow {
  readonly component: GateComponent
  readonly does: string
  readonly kep: string
  readonly upstream: string
  /** Default in the beta stage when the stage is chosen by hand; most features are on in beta. */
  readonly betaDefault?: boolean
  /** False: the name is known and accepted, nothing of ours depends on it. */
  readonly effective?: false
}

const kubelet = (does: string, kep: string, upstream = kep): GateRow => ({
  component: 'kubelet',
  does,
  kep,
  upstream,
})

const kubeadm = (does: string, kep: string): GateRow => ({
  component: 'kubeadm',
  does,
  kep,
  upstream: kep,
})

const nameOnly = (does: string, kep: string): GateRow => ({ ...kubeadm(does, kep), effective: false })

export const gateTable = {
  KubeletCgroupDriverFromCRI: kubelet('take the cgroup driver from the runtime', '28a- 31b+ 34g+!'),
  // KEP-2570 stays alpha in its own text; the 1.37 release went beta after it.
  MemoryQoS: kubelet('set memory.min, memory.low and memory.high', '22a-', '22a- 37b+'),
  // Beta upstream since 1.37, still off by default.
  PodAndContainerStatsFromCRI: {
    ...kubelet('take pod and container stats from the runtime', '23a-', '23a- 37b-'),
    betaDefault: false,
  },
  CRIListStreaming: kubelet('list from the runtime with the Stream* calls', '36a-'),
  EventedPLEG: kubelet('relist pods on container events of the runtime', '26a-'),
  PodLevelResources: kubelet('requests and limits of a whole pod', '32a- 34b+'),
  PodLevelResourcesFixKubeletQOSClass: kubelet(
    'an empty spec.resources does not decide the QoS class',
    '37b+',
  ),
  InPlacePodVerticalScaling: kubelet('change resources of a running pod', '27a- 33b+ 35g+!'),
  InPlacePodLevelResourcesVerticalScaling: kubelet('change pod-level resources in place', '35a- 36b+'),
  HugepageAwareEviction: kubelet('node memory available leaves huge pages out', '37b+'),
  GracefulNodeShutdown: kubelet('a shutdown of the machine waits for pods', '20a- 21b+'),
  GracefulNodeShutdownBasedOnPodPriority: kubelet('shutdownGracePeriodByPodPriority', '23a- 24b+'),
  ImageMaximumGCAge: kubelet('imageMaximumGCAge', '29a- 30b+ 35g+!'),
  KubeletEnsureSecretPulledImages: kubelet(
    'images pulled with a secret are for pods that have it',
    '33a- 35b+',
  ),
  KubeletPSI: kubelet('pressure stall values in stats and metrics', '33a- 34b+ 36g+!'),
  KubeletFineGrainedAuthz: kubelet('own subresources for pods, healthz, configz', '32a- 33b+ 36g+!'),
  NodeSwap: kubelet('swap by memorySwap.swapBehavior', '22a- 28b- 30b+ 34g+!'),
  SidecarContainers: kubelet('init containers that keep running', '28a- 29b+ 33g+! 37x'),
  CustomCPUCFSQuotaPeriod: kubelet('cpuCFSQuotaPeriod other than 100ms', '20a- 36g+'),
  NodeLocalCRISocket: kubeadm('the CRI socket is a file on the node', '32a- 34b+ 36g+! 37x'),
  ControlPlaneKubeletLocalMode: nameOnly('kubelets talk to the local API server', '31a- 33b+ 35g+! 36x'),
  EtcdLearnerMode: nameOnly('etcd members join as learners', '27a- 29b+ 32g+! 33x'),
  IPv6DualStack: nameOnly('two address families', '20a- 21b+ 23g+! 24x'),
  PublicKeysECDSA: nameOnly('ECDSA certificates', '20a- 29d- 37x'),
  RootlessControlPlane: nameOnly('control plane without root', '22a-'),
  UnversionedKubeletConfigMap: nameOnly('kubelet-config without a version', '23a- 24b+ 25g+! 26x'),
  UpgradeAddonsBeforeControlPlane: nameOnly('old order of add-on upgrades', '28d- 31x'),
  WaitForAllControlPlaneComponents: nameOnly('wait for every component', '30a- 33b+ 34g+! 35x'),
} as const satisfies Record<string, GateRow>

export type GateName = keyof typeof gateTable

/** KEP-4033: the first minor that refuses a runtime without RuntimeConfig. */
export const fallbackRemovedIn: Readonly<Record<Profile, number>> = { kep: 37, upstream: 38 }

/**
 * Label of kubelet_cri_losing_support. Upstream moved the date twice and backported the move into 1.34.10;
 * a version without a patch means the newest one, which names the date that holds today.
 */
export const losingSupportLabels = {
  kep: { newest: '1.37', patches: [] },
  upstream: {
    newest: '1.38.0',
    patches: [
      { minor: 34, from: 0, to: 9, label: '1.36.0' },
      { minor: 35, from: 0, to: Number.POSITIVE_INFINITY, label: '1.36.0' },
      { minor: 36, from: 0, to: Number.POSITIVE_INFINITY, label: '1.37.0' },
    ],
  },
} as const

export interface MemoryQosRow {
  /** First minor that this row describes; it holds until the next row. */
  readonly from: number
  readonly generation: FormulaGeneration
  /** Undefined: no memory.high unless a factor is configured. */
  readonly defaultFactor: number | undefined
  /** Undefined: the field memoryReservationPolicy does not exist and `policy` applies with the gate on. */
  readonly policies: readonly ReservationPolicy[] | undefined
  readonly policy: ReservationPolicy
}

const formula122: MemoryQosRow = {
  from: 22,
  generation: '1.22',
  defaultFactor: 0.8,
  policies: undefined,
  policy: 'HardReservation',
}
const formula127: MemoryQosRow = { ...formula122, from: 27, generation: '1.27', defaultFactor: 0.9 }
const tiered: MemoryQosRow = {
  ...formula127,
  from: 36,
  policies: ['None', 'TieredReservation'],
  policy: 'None',
}

/** KEP-2570: formula, default factor and reservation policies. */
export const memoryQosTable: Readonly<Record<Profile, readonly MemoryQosRow[]>> = {
  kep: [formula122, formula127, { ...tiered, policies: ['None', 'HardReservation', 'TieredReservation'] }],
  upstream: [formula122, formula127, tiered, { ...tiered, from: 37, defaultFactor: undefined }],
}
