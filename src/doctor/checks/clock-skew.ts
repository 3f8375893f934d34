// Certificates, tokens and leases are judged by two clocks.
import { type Check, error, ok, skipped, warn } from '../check.js'
import type { ClusterFacts } from '../cluster-facts.js'

interface Facts {
  readonly cluster: Pick<ClusterFacts, 'skewMs'> | undefined
}

/** The API server tells whole seconds, and its answer takes time. */
const noticeableMs = 5_000
const harmfulMs = 60_000

export const clockSkew: Check<Facts> = {
  name: 'clock-skew',
  asks: 'Does the clock of this node agree with the one of the API server?',
  run({ cluster }) {
    if (cluster?.skewMs === undefined) return skipped('the API server did not tell its time')
    const { skewMs } = cluster
    const seconds = Math.round(Math.abs(skewMs) / 1000)
    const evidence = [`this node is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead'}`]
    const remedy = 'let chrony or systemd-timesyncd set the clock, here and there'
    if (Math.abs(skewMs) > harmfulMs)
      return error(
        'the clocks differ by more than a minute: certificates and tokens may be refused',
        remedy,
        evidence,
      )
    if (Math.abs(skewMs) > noticeableMs) return warn('the clocks differ', remedy, evidence)
    return ok(...evidence)
  },
}
