// The items of the CIS Kubernetes benchmark (section 4.2) that the kubelet's configuration decides.
import type { EffectiveConfig } from '../../config/effective.js'
import type { Json } from '../../config/node.js'
import { type Check, error, type Finding, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts, KubeletFacts } from '../facts.js'

interface Item {
  readonly id: string
  /** Undefined: as it should be. */
  judge(config: EffectiveConfig['kubelet'], facts: KubeletFacts): Finding | undefined
}

const documentField = ({ loaded }: KubeletFacts, key: string): Json | undefined => {
  const { document } = loaded.config
  return typeof document === 'object' && document !== null && !Array.isArray(document)
    ? (document as Readonly<Record<string, Json>>)[key]
    : undefined
}

const items: readonly Item[] = [
  {
    id: '4.2.1',
    judge: ({ authentication }) =>
      authentication.anonymous.enabled
        ? error('callers without credentials are let in', 'set authentication.anonymous.enabled: false')
        : undefined,
  },
  {
    id: '4.2.2',
    judge: ({ authorization }) =>
      authorization.mode === 'AlwaysAllow'
        ? error('every known caller may do everything', 'set authorization.mode: Webhook')
        : undefined,
  },
  {
    id: '4.2.3',
    judge({ authentication }, { process }) {
      if (authentication.x509.clientCAFile !== undefined) return undefined
      const remedy = 'set authentication.x509.clientCAFile'
      return process?.kind === 'keelson'
        ? info('no client CA is set: only the local token opens this kubelet', [], remedy)
        : warn('no client CA is set, so the API server cannot prove who it is', remedy)
    },
  },
  {
    id: '4.2.4',
    judge: ({ readOnlyPort }) =>
      readOnlyPort > 0
        ? error(`the read-only port ${readOnlyPort} shows every pod to anybody`, 'set readOnlyPort: 0')
        : undefined,
  },
  {
    id: '4.2.5',
    judge: ({ streamingConnectionIdleTimeout }) =>
      streamingConnectionIdleTimeout === 0
        ? warn(
            'idle exec and port-forward streams never end',
            'set streamingConnectionIdleTimeout, such as 4h',
          )
        : undefined,
  },
  {
    id: '4.2.6',
    judge: (_, facts) =>
      documentField(facts, 'makeIPTablesUtilChains') === false
        ? warn('makeIPTablesUtilChains is off', 'take makeIPTablesUtilChains: false out')
        : undefined,
  },
  {
    id: '4.2.10',
    judge: (_, facts) =>
      documentField(facts, 'rotateCertificates') === false
        ? warn("the kubelet's client certificate is not renewed", 'set rotateCertificates: true')
        : undefined,
  },
  {
    id: '4.2.13',
    judge: ({ podPidsLimit }) =>
      podPidsLimit === -1
        ? info('a pod may fill the process table of the node', [], 'set podPidsLimit, such as 4096')
        : undefined,
  },
]

export const kubeletAuth: Check<DoctorFacts> = {
  name: 'kubelet-auth',
  asks: 'Does the kubelet keep strangers out (CIS 4.2)?',
  run({ kubelet }) {
    if (kubelet.source === undefined) return skipped('there is no kubelet here, and no configuration of one')
    const found = items.flatMap(({ id, judge }) => {
      const finding = judge(kubelet.loaded.config.kubelet, kubelet)
      return finding === undefined ? [] : [{ ...finding, message: `CIS ${id}: ${finding.message}` }]
    })
    return found.length === 0 ? ok(`${items.length} items hold`) : found
  },
}
