// What the program inside a node environment tells the bench.

export interface VolumesResult {
  /** Of the kubelet, in the whole time. */
  readonly cpuS: number
  readonly rssMiB: number
  /** Of single config maps and secrets, served by the API server at the end and not before the pods. */
  readonly watches: number
  /** Of the kubelet to the API server. */
  readonly connections: number
  /** From the change of a config map to the pod's file. */
  readonly changeS: number
}
