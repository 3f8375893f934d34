// The CRI socket of a node that exists already: which record counts, by release (facts in, one choice out).
import { fail } from '../core/errors.js'
import {
  decideDetected,
  defaultEndpoint,
  type NodeOs,
  normalizeEndpoint,
  severalRuntimes,
} from './cri-socket.js'
import { criSocketAnnotation, instanceConfigPath } from './paths.js'
import { type Warning, warning } from './warnings.js'

export type SocketSource = 'flag' | 'config' | 'instance-config' | 'annotation' | 'detected' | 'default'

export interface SocketChoice {
  readonly endpoint: string
  readonly from: SocketSource
  readonly warnings: readonly Warning[]
}

export interface SocketFacts {
  readonly os: NodeOs
  readonly nodeName: string
  readonly listening: readonly string[]
  readonly annotation: string | undefined
  /** Read only when its turn comes: a broken file must not stop a command that does not need it. */
  instanceEndpoint(): string | undefined
}

type Record = 'annotation' | 'instance-config'

interface Order {
  readonly records: readonly Record[]
  readonly otherwise: 'error' | 'detect'
}

function orderFor(minor: number, gateOn: boolean): Order {
  if (minor <= 31 || (minor <= 33 && !gateOn)) return { records: ['annotation'], otherwise: 'error' }
  if (minor <= 33) return { records: ['instance-config', 'annotation'], otherwise: 'error' }
  if (minor === 34) return { records: ['annotation', 'instance-config'], otherwise: 'error' }
  if (minor <= 36) return { records: ['annotation', 'instance-config'], otherwise: 'detect' }
  return { records: ['instance-config'], otherwise: 'detect' }
}

export function decideUpgradeSocket(minor: number, gateOn: boolean, facts: SocketFacts): SocketChoice {
  const order = orderFor(minor, gateOn)
  const recorded = fromRecords(order.records, facts, 'nodeRegistration.criSocket')
  if (recorded !== undefined) return recorded
  if (order.otherwise === 'error') {
    const file = minor === 34 ? ` and there is no ${instanceConfigPath} that names one` : ''
    throw fail(
      'node.socket-unknown',
      `find the CRI socket of node ${facts.nodeName}: it has no annotation ${criSocketAnnotation}${file}; set it again, and give --kubeconfig so that it can be read`,
      { node: facts.nodeName },
    )
  }
  return detectForUpgrade(facts)
}

/** Newer releases would rather guess, loudly, than stop an upgrade. */
function detectForUpgrade(facts: SocketFacts): SocketChoice {
  const detected = decideDetected(facts.listening, facts.os)
  const tried = warning(
    'socket-autodetected',
    `nothing on node ${facts.nodeName} records its CRI socket, so well-known endpoints were tried; check the result`,
  )
  if (detected.kind === 'one') return { endpoint: detected.endpoint, from: 'detected', warnings: [tried] }
  if (detected.kind === 'none') return { endpoint: detected.endpoint, from: 'default', warnings: [tried] }
  const endpoint = defaultEndpoint(facts.os)
  const failed = warning(
    'autodetection-failed',
    `several CRI endpoints answer (${detected.endpoints.join(', ')}), so the default ${endpoint} is used; check it`,
  )
  return { endpoint, from: 'default', warnings: [tried, failed] }
}

function fromRecords(
  records: readonly Record[],
  facts: SocketFacts,
  field: string,
): SocketChoice | undefined {
  for (const from of records) {
    const value = from === 'annotation' ? facts.annotation : facts.instanceEndpoint()
    if (value === undefined || value === '') continue
    const where = from === 'annotation' ? `annotation ${criSocketAnnotation}` : instanceConfigPath
    return { ...normalizeEndpoint(value, facts.os, `${field} (${where})`), from }
  }
  return undefined
}

export interface AskedSocket {
  readonly flag: string | undefined
  readonly config: string | undefined
}

const asked = ({ flag, config }: AskedSocket, os: NodeOs, field: string): SocketChoice | undefined => {
  if (flag !== undefined) return { ...normalizeEndpoint(flag, os, `${field} (--cri-socket)`), from: 'flag' }
  if (config !== undefined) return { ...normalizeEndpoint(config, os, field), from: 'config' }
  return undefined
}

/** init and join: what was asked for, else what answers, else the default without a word. */
export function decideNewSocket(
  ask: AskedSocket,
  facts: Pick<SocketFacts, 'os' | 'listening'>,
): SocketChoice {
  const field = 'nodeRegistration.criSocket'
  return asked(ask, facts.os, field) ?? detect(facts, field)
}

/** reset, in every release: what was asked for, the node's own record, detection. */
export function decideResetSocket(ask: AskedSocket, facts: SocketFacts): SocketChoice {
  const field = 'criSocket'
  return (
    asked(ask, facts.os, field) ??
    fromRecords(['instance-config', 'annotation'], facts, field) ??
    detect(facts, field)
  )
}

function detect({ os, listening }: Pick<SocketFacts, 'os' | 'listening'>, field: string): SocketChoice {
  const detected = decideDetected(listening, os)
  if (detected.kind === 'several') throw severalRuntimes(detected.endpoints, field)
  return {
    endpoint: detected.endpoint,
    from: detected.kind === 'one' ? 'detected' : 'default',
    warnings: [],
  }
}
