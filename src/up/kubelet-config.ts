// The KubeletConfiguration of a node that `keelson up` builds, as text that is shown and then used.

export interface UpDirectories {
  readonly run: string
  readonly root: string
  readonly pods: string
  readonly logs: string
  readonly criSocket: string
}

export const directoriesBelow = (run: string): UpDirectories => ({
  run,
  root: `${run}/kubelet`,
  pods: `${run}/pods`,
  logs: `${run}/logs/pods`,
  criSocket: `${run}/cri.sock`,
})

export interface KubeletSettings {
  readonly ports: { readonly kubelet: number; readonly healthz: number }
  readonly memoryQos: boolean
  /** Memory that pods may not use; undefined: they may use all. */
  readonly reservedMemory?: bigint
}

const memoryQosOn = `memoryReservationPolicy: HardReservation
memoryThrottlingFactor: 0.9
`

/** The gates on, HardReservation, factor 0.9: what the KEPs are about. The rest is what a second kubelet needs. */
export const formatKubeletConfig = (
  directories: UpDirectories,
  { ports, memoryQos, reservedMemory }: KubeletSettings,
): string => `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
featureGates:
  MemoryQoS: ${memoryQos}
  PodAndContainerStatsFromCRI: true
${memoryQos ? memoryQosOn : ''}${reservedMemory === undefined ? '' : `systemReserved: { memory: "${reservedMemory}" }\n`}containerRuntimeEndpoint: ${JSON.stringify(`unix://${directories.criSocket}`)}
staticPodPath: ${JSON.stringify(directories.pods)}
podLogsDir: ${JSON.stringify(directories.logs)}
address: 127.0.0.1
port: ${ports.kubelet}
healthzPort: ${ports.healthz}
failSwapOn: false
fileCheckFrequency: 2s
`
