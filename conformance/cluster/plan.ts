// What crosses into the node environment as JSON: a control plane, one node, and what to do once the node is ready.
import { insideDirectory } from '../node-environment/plan.js'
import type { ControlPlaneBinaries } from './control-plane.js'

export interface ClusterPlan {
  /** Paths inside the environment. */
  readonly binaries: ControlPlaneBinaries
  readonly nodeName: string
  /** Where callers on the host reach the API server. */
  readonly hostUrl: string
  readonly auditLog: boolean
  /** Services get their addresses from it. */
  readonly kubeProxy: string | undefined
  readonly coreDns: string | undefined
  /** Runs when the node is ready, with its status as the end of the cluster; empty: the cluster stays. */
  readonly argv: readonly string[]
}

/** Paths inside; below `out` they are seen from the host too. */
export const insidePlan = `${insideDirectory}/cluster.json`
export const insideCluster = `${insideDirectory}/out/cluster`
export const insideAdmin = `${insideCluster}/admin.kubeconfig`

/** Of the environment's directory, which the host sees at another path. */
export const apiSocket = 'api.sock'
export const hostKubeconfig = 'out/cluster/from-host.kubeconfig'
/** Printed by the program inside. */
export const readyLine = 'cluster ready'
