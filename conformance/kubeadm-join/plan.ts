// What crosses into the node environment: which kubeadm joins, and the control plane that it joins.
import type { ControlPlaneBinaries } from '../cluster/control-plane.js'
import { insideDirectory } from '../node-environment/plan.js'

export interface JoinPlan {
  /** Paths inside the environment. */
  readonly binaries: ControlPlaneBinaries
  readonly kubeadm: string
  /** Release of that kubeadm: `v1.37.1`. */
  readonly version: string
}

export const insideJoinPlan = `${insideDirectory}/join.json`
/** Below `out`, which the host sees. */
export const joinReport = 'join-report.json'
export const nodeName = 'joined-1'

/** What the node and the cluster look like afterwards. */
export interface JoinReport {
  readonly kubeadmStatus: number
  readonly kubeadmOutput: string
  readonly kubeletLog: string
  readonly ready: string | undefined
  readonly kubeletVersion: string | undefined
  readonly csrNames: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
  readonly kubeconfig: string
  readonly pki: readonly string[]
  readonly instanceConfig: string | undefined
  readonly configz: { readonly kubeletconfig?: Readonly<Record<string, unknown>> }
}
