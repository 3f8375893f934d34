// What the cluster and this node know of each other, as far as the node's own credentials show it.
import type { ClusterAnswer } from '../ports/diagnosis.js'

export interface ClusterFacts extends ClusterAnswer {
  readonly kubeconfig: string
  readonly nodeName: string
  /** rotateCertificates */
  readonly rotates: boolean
  readonly nowMs: number
}
