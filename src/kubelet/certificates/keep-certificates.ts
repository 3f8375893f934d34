// Both certificates of a node while it runs: that of the client, with rotateCertificates, and that of the server, with
// serverTLSBootstrap; and what metrics say about them.
import type { EffectiveConfig } from '../../config/effective.js'
import type { KubeNode } from '../../core/kube/objects.js'
import type { PairStore } from '../../ports/certificates.js'
import type { Metrics } from '../../ports/metrics.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { noNames, servingNames } from './decide/request.js'
import type { ClusterLink } from './join-cluster.js'
import { keepCertificate, type RotateOptions } from './rotate.js'

interface KeepCertificatesInput {
  readonly config: EffectiveConfig
  readonly link: ClusterLink
  readonly nodeName: string
  /** Undefined: the serving certificate is not the cluster's. */
  readonly servingPairs: PairStore | undefined
  readonly node: () => KubeNode | undefined
  readonly ports: Pick<KubeletPorts, 'certificates' | 'clock' | 'log' | 'metrics'>
  readonly random?: () => number
  readonly signal: AbortSignal
}

/** Where the cluster's serving certificate is kept; undefined: it is not asked for. Files that are named count more. */
export const openServingPairs = (
  { kubelet }: EffectiveConfig,
  directory: string,
  link: ClusterLink | undefined,
  { certificates }: Pick<KubeletPorts, 'certificates'>,
): PairStore | undefined =>
  link !== undefined && kubelet.serverTLSBootstrap === true && kubelet.tlsCertFile === undefined
    ? certificates.openStore(directory, 'kubelet-server')
    : undefined

const ages = [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000]

export async function keepCertificates(i: KeepCertificatesInput): Promise<void> {
  const { config, link, ports, signal, random = Math.random } = i
  const nowMs = (): number => Number(ports.clock.nowNanos() / 1_000_000n)
  const shared = { ...ports, api: link.api, nodeName: i.nodeName, random, signal }
  const loops: Promise<void>[] = []
  if (config.kubelet.rotateCertificates === true) {
    const counted = clientMetrics(ports.metrics, nowMs)
    loops.push(
      keepCertificate({
        ...shared,
        ...counted,
        use: 'client',
        store: link.clientPairs,
        names: () => noNames,
        renewNow: link.renewNow,
        ...(link.bootstrap === undefined ? {} : { whenEnded: link.bootstrap }),
      }),
    )
  }
  if (i.servingPairs !== undefined)
    loops.push(
      keepCertificate({
        ...shared,
        ...servingMetrics(ports.metrics, nowMs),
        use: 'serving',
        store: i.servingPairs,
        names: () => servingNames(i.node()?.status?.addresses ?? []),
      }),
    )
  await Promise.all(loops)
}

type Counted = Pick<RotateOptions, 'onPair' | 'onFailure'>

/** +Inf, as upstream, while there is no certificate. */
function ttlGauge(
  metrics: Metrics,
  name: string,
  help: string,
  nowMs: () => number,
): (notAfterMs: number) => void {
  let ends: number | undefined
  metrics.gauge(name, help, [], (gauge) =>
    gauge.set(ends === undefined ? Number.POSITIVE_INFINITY : Math.trunc((ends - nowMs()) / 1000)),
  )
  return (notAfterMs) => {
    ends = notAfterMs
  }
}

function clientMetrics(metrics: Metrics, nowMs: () => number): Counted {
  const setEnd = ttlGauge(
    metrics,
    'kubelet_certificate_manager_client_ttl_seconds',
    '[ALPHA] Seconds until the client certificate ends; negative when it has, +Inf when there is none.',
    nowMs,
  )
  const errors = metrics.counter(
    'kubelet_certificate_manager_client_expiration_renew_errors',
    '[ALPHA] Renewals of the client certificate that failed.',
  )
  return { onPair: ({ facts }) => setEnd(facts.notAfterMs), onFailure: () => errors.inc() }
}

function servingMetrics(metrics: Metrics, nowMs: () => number): Counted {
  const setEnd = ttlGauge(
    metrics,
    'kubelet_certificate_manager_server_ttl_seconds',
    '[ALPHA] Seconds until the serving certificate ends; negative when it has, +Inf when there is none.',
    nowMs,
  )
  const errors = metrics.counter(
    'kubelet_server_expiration_renew_errors',
    '[ALPHA] Renewals of the serving certificate that failed.',
  )
  const lived = metrics.histogram(
    'kubelet_certificate_manager_server_rotation_seconds',
    '[ALPHA] How long serving certificates were used before they were replaced.',
    ages,
  )
  return {
    onPair({ facts }, before) {
      setEnd(facts.notAfterMs)
      if (before !== undefined) lived.observe((nowMs() - before.facts.notBeforeMs) / 1000)
    },
    onFailure: () => errors.inc(),
  }
}
