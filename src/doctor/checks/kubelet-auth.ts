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
        ? error('anonymous requests are allowed', 'set authentication.anonymous.enabled: false')
        : undefined,
  },
  {
    id: '4.2.2',
    judge: ({ authorization }) =>
      authorization.mode === 'AlwaysAllow'
        ? error('every authenticated user may do everything', 'set authorization.mode: Webhook')
        : undefined,
  },
  {
    id: '4.2.3',
    judge({ authentication }, { process }) {
      if (authentication.x509.clientCAFile !== undefined) return undefined
      const remedy = 'set authentication.x509.clientCAFile'
      return process?.kind === 'keelson'
        ? info('no client CA is set: only the local token gives access to this kubelet', [], remedy)
        : warn('no client CA is set, so the API server cannot authenticate to the kubelet', remedy)
    },
  },
  {
    id: '4.2.4',
    judge: ({ readOnlyPort }) =>
      readOnlyPort > 0
        ? error(
            `the read-only port ${readOnlyPort} shows all pods without authentication`,
            'set readOnlyPort: 0',
          )
        : undefined,
  },
  {
    id: '4.2.5',
    judge: ({ streamingConnectionIdleTimeout }) =>
      streamingConnectionIdleTimeout === 0
        ? warn(
            'idle exec and port-forward streams are never closed',
            'set streamingConnectionIdleTimeout, such as 4h',
          )
        : undefined,
  },
  {
    id: '4.2.6',
    judge: (_, facts) =>
      documentField(facts, 'makeIPTablesUtilChains') === false
        ? warn('makeIPTablesUtilChains is off', 'remove makeIPTablesUtilChains: false')
        : undefined,
  },
  {
    id: '4.2.10',
    judge: (_, facts) =>
      documentField(facts, 'rotateCertificates') === false
        ? warn('the client certificate of the kubelet is not rotated', 'set rotateCertificates: true')
        : undefined,
  },
  {
    id: '4.2.13',
    judge: ({ podPidsLimit }) =>
      podPidsLimit === -1
        ? info('a pod can use up all process IDs of the node', [], 'set podPidsLimit, such as 4096')
        : undefined,
  },
]

export const kubeletAuth: Check<DoctorFacts> = {
  name: 'kubelet-auth',
  asks: 'Does the kubelet refuse unauthenticated and unauthorized requests (CIS 4.2)?',
  run({ kubelet }) {
    if (kubelet.source === undefined) return skipped('no kubelet and no kubelet configuration found')
    const found = items.flatMap(({ id, judge }) => {
      const finding = judge(kubelet.loaded.config.kubelet, kubelet)
      return finding === undefined ? [] : [{ ...finding, message: `CIS ${id}: ${finding.message}` }]
    })
    return found.length === 0 ? ok(`${items.length} items passed`) : found
  },
}
