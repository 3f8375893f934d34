// The CRI socket of a node that exists already: which record counts, by release (facts in, one choice out).
import { keelsonError } from '../core/errors.js'
import type { Profile } from '../core/release/gate-table.js'
import {
  decideDetected,
  defaultEndpoint,
  type NodeOs,
  normalizeEndpoint,
  severalRuntimes,
} from './cri-socket.js'
import { endpointFlag } from './kubelet-flags.js'
import { criSocketAnnotation, instanceConfigPath, kubeletConfigPath, kubeletFlagsPath } from './paths.js'
import { type Warning, warning } from './warnings.js'

type SocketSource =
  | 'flag'
  | 'config'
  | 'instance-config'
  | 'annotation'
  | 'kubelet-flags'
  | 'kubelet-config'
  | 'detected'
  | 'default'

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
  /** Of the kubelet's present config.yaml, and of the flag in kubeadm-flags.env, which overrides it. */
  configEndpoint(): string | undefined
  flagEndpoint(): string | undefined
}

type Record = 'annotation' | 'instance-config' | 'kubelet-config'

interface Order {
  readonly records: readonly Record[]
  readonly otherwise: 'error' | 'detect'
  /** The upgrade moves the flag of kubeadm-flags.env, so that it is the node's socket. */
  readonly movesFlag: boolean
}

/** Upstream asks neither config.yaml nor the flag file, and may point the node at another runtime. */
function orderFor(minor: number, gateOn: boolean, profile: Profile): Order {
  const asks = (...records: Record[]): Order => ({ records, otherwise: 'error', movesFlag: false })
  if (minor <= 31 || (minor <= 33 && !gateOn)) return asks('annotation')
  if (minor <= 33) return asks('instance-config', 'annotation')
  if (minor === 34) return asks('annotation', 'instance-config')
  const own: Record[] = profile === 'kep' ? ['kubelet-config'] : []
  const records: Record[] =
    minor <= 36 ? ['annotation', 'instance-config', ...own] : ['instance-config', ...own]
  return { records, otherwise: 'detect', movesFlag: minor <= 36 && profile === 'kep' }
}

export function decideUpgradeSocket(
  minor: number,
  gateOn: boolean,
  profile: Profile,
  facts: SocketFacts,
): SocketChoice {
  const order = orderFor(minor, gateOn, profile)
  const recorded = fromRecords(order.records, facts, criSocketField)
  const flag = order.movesFlag ? facts.flagEndpoint() : undefined
  if (recorded !== undefined && (recorded.from !== 'kubelet-config' || flag === undefined)) return recorded
  if (order.otherwise === 'error') throw unknownSocket(minor, gateOn, facts)
  if (flag === undefined) return detectForUpgrade(facts)
  const { endpoint } = normalizeEndpoint(flag, facts.os, `${criSocketField} (${kubeletFlagsPath})`)
  return {
    endpoint,
    from: 'kubelet-flags',
    warnings: recorded === undefined ? flagWarnings(facts, flag) : [],
  }
}

const criSocketField = 'nodeRegistration.criSocket'

function unknownSocket(minor: number, gateOn: boolean, facts: SocketFacts): Error {
  const { nodeName } = facts
  const file = minor === 34 ? ` and there is no ${instanceConfigPath} that names one` : ''
  const lost = `find the CRI socket of node ${nodeName}: it has no annotation ${criSocketAnnotation}${file}`
  const flag = facts.flagEndpoint()
  if (flag === undefined)
    return keelsonError('node.socket-unknown', `${lost}; set it again, and use --kubeconfig to read it`, {
      node: nodeName,
    })
  const annotate = `kubectl annotate node ${nodeName} ${criSocketAnnotation}=${flag}, and use --kubeconfig`
  const write = `, or write containerRuntimeEndpoint: "${flag}" to ${instanceConfigPath}`
  return keelsonError(
    'node.socket-unknown',
    `${lost}, but ${kubeletFlagsPath} has --${endpointFlag}=${flag}; if that is the node's runtime, record it: ${annotate}${minor === 34 || (minor >= 32 && gateOn) ? write : ''}`,
    { node: nodeName, flag },
  )
}

/** The same ids as when nothing is known: no record that this release goes by names the socket. */
function flagWarnings(facts: SocketFacts, flag: string): Warning[] {
  const detected = decideDetected(facts.listening, facts.os)
  const found = warning(
    'socket-autodetected',
    `only ${kubeletFlagsPath} on node ${facts.nodeName} records the CRI socket, so --${endpointFlag}=${flag} of that file is used; check the result`,
  )
  if (detected.kind !== 'several') return [found]
  const several = warning(
    'autodetection-failed',
    `several CRI endpoints respond (${detected.endpoints.join(', ')}); ${kubeletFlagsPath} names ${flag}, which is used`,
  )
  return [found, several]
}

/** Newer releases would rather guess, loudly, than stop an upgrade. */
function detectForUpgrade(facts: SocketFacts): SocketChoice {
  const detected = decideDetected(facts.listening, facts.os)
  const tried = warning(
    'socket-autodetected',
    `no file on node ${facts.nodeName} records the CRI socket, so the well-known endpoints were tried; check the result`,
  )
  if (detected.kind === 'one') return { endpoint: detected.endpoint, from: 'detected', warnings: [tried] }
  if (detected.kind === 'none') return { endpoint: detected.endpoint, from: 'default', warnings: [tried] }
  const endpoint = defaultEndpoint(facts.os)
  const failed = warning(
    'autodetection-failed',
    `several CRI endpoints respond (${detected.endpoints.join(', ')}), so the default ${endpoint} is used; check it`,
  )
  return { endpoint, from: 'default', warnings: [tried, failed] }
}

function fromRecords(
  records: readonly Record[],
  facts: SocketFacts,
  field: string,
): SocketChoice | undefined {
  for (const from of records) {
    const { value, where } = recordOf(from, facts)
    if (value === undefined || value === '') continue
    return { ...normalizeEndpoint(value, facts.os, `${field} (${where})`), from }
  }
  return undefined
}

function recordOf(from: Record, facts: SocketFacts): { value: string | undefined; where: string } {
  switch (from) {
    case 'annotation':
      return { value: facts.annotation, where: `annotation ${criSocketAnnotation}` }
    case 'instance-config':
      return { value: facts.instanceEndpoint(), where: instanceConfigPath }
    case 'kubelet-config':
      return { value: facts.configEndpoint(), where: kubeletConfigPath }
  }
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
