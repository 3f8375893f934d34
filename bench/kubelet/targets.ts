// What Keelson is held to, as a share of the upstream kubelet's value in the same run. A target is a row here.
import type { MeasureName } from './measures.js'
import type { StackName } from './stack.js'

export interface Target {
  readonly measure: MeasureName
  readonly stack: StackName
  readonly limit: number
}

export const targets: readonly Target[] = [
  { measure: 'CPU until healthy', stack: 'keelson', limit: 1.5 },
  { measure: 'one pod, p50', stack: 'keelson', limit: 1 },
  { measure: 'many pods to running', stack: 'keelson', limit: 0.9 },
  { measure: 'at rest: CPU of the kubelet', stack: 'keelson', limit: 0.3 },
  { measure: 'three endpoints: CPU of the kubelet', stack: 'keelson', limit: 0.3 },
  { measure: 'three endpoints: memory of the kubelet', stack: 'keelson', limit: 0.8 },
  { measure: 'three endpoints: CPU of all', stack: 'keelson with cri', limit: 0.45 },
]
