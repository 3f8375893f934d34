// Every other question about the cluster needs this one.
import { type Check, error, ok, skipped } from '../check.js'
import type { ClusterFacts } from '../cluster-facts.js'

interface Facts {
  /** Undefined: the kubelet is standalone, or there is none. */
  readonly cluster: ClusterFacts | undefined
}

export const apiServer: Check<Facts> = {
  name: 'api-server',
  asks: 'Does the API server answer this node?',
  run({ cluster }) {
    if (cluster === undefined) return skipped('the kubelet of this node has no kubeconfig')
    const { kubeconfig, problem, server } = cluster
    const evidence = [`kubeconfig ${kubeconfig}`, ...(server === undefined ? [] : [`server ${server}`])]
    if (problem === undefined) return ok(...evidence)
    return error(
      problem,
      'check the kubeconfig, the network and the API server; pods of this node go on',
      evidence,
    )
  },
}
