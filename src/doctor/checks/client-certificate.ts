// A node whose client certificate has ended is shut out of its cluster.
import { type Check, error, ok, skipped, warn } from '../check.js'
import type { ClusterFacts } from '../cluster-facts.js'

interface Facts {
  readonly cluster: Pick<ClusterFacts, 'certificate' | 'kubeconfig' | 'nowMs' | 'rotates'> | undefined
}

const dayMs = 86_400_000
const soonMs = 30 * dayMs
/** Renewal begins before 90 % of its life. */
const lateShare = 0.92

export const clientCertificate: Check<Facts> = {
  name: 'client-certificate',
  asks: 'How long does the client certificate of this node last?',
  run({ cluster }) {
    if (cluster === undefined) return skipped('the kubelet of this node has no kubeconfig')
    const { certificate, kubeconfig, nowMs, rotates } = cluster
    if (certificate === undefined) return skipped(`${kubeconfig} has no client certificate that can be read`)
    const { notAfterMs, notBeforeMs } = certificate
    const evidence = [
      `not after ${new Date(notAfterMs).toISOString()}`,
      `rotateCertificates ${String(rotates)}`,
    ]
    if (nowMs >= notAfterMs)
      return error(
        'the client certificate has ended: the API server shuts this node out',
        'join again with a bootstrap token, or renew it with kubeadm; the files are read without a restart',
        evidence,
      )
    const days = Math.floor((notAfterMs - nowMs) / dayMs)
    if (rotates && nowMs > notBeforeMs + (notAfterMs - notBeforeMs) * lateShare)
      return warn(
        `the client certificate should have been renewed by now; it ends in ${days} days`,
        'look for its request with kubectl get csr, and at the log of the kubelet',
        evidence,
      )
    if (!rotates && notAfterMs - nowMs < soonMs)
      return warn(
        `the client certificate ends in ${days} days and is not renewed`,
        'set rotateCertificates: true, or renew it by hand',
        evidence,
      )
    return ok(...evidence)
  },
}
