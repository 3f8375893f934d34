// The Lease is the node's sign of life: without it the cluster moves its pods elsewhere.
import { leaseAgeMs } from '../../core/kube/lease-age.js'
import { type Check, error, ok, skipped } from '../check.js'
import type { ClusterFacts } from '../cluster-facts.js'

interface Facts {
  readonly cluster: Pick<ClusterFacts, 'problem' | 'lease' | 'node' | 'nowMs' | 'skewMs'> | undefined
}

const remedy = 'look at the log of the kubelet for heartbeats that failed; is it running?'

export const nodeLease: Check<Facts> = {
  name: 'node-lease',
  asks: 'Does this node renew its Lease?',
  run({ cluster }) {
    if (cluster === undefined || cluster.problem !== undefined)
      return skipped('the API server did not answer')
    const { lease, node, nowMs } = cluster
    if (node === undefined) return skipped('this machine is not a Node of the cluster')
    if (lease === undefined) return error('the Node has no Lease', remedy)
    // By the clock of the node, which wrote the time; another clock is another check.
    const age = leaseAgeMs(lease, nowMs)
    if (age === undefined) return error('the Lease was never renewed', remedy)
    const durationMs = (lease.spec?.leaseDurationSeconds ?? 40) * 1000
    const evidence = [`renewed ${Math.max(0, Math.round(age / 1000))} s ago, lasts ${durationMs / 1000} s`]
    return age > durationMs ? error('the Lease is older than it lasts', remedy, evidence) : ok(...evidence)
  },
}
