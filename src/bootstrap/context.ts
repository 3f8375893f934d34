// What phases plan from: the facts and the three decisions that all of them share.

import { keelsonError } from '../core/errors.js'
import type { KubernetesVersion } from '../core/release/version.js'
import { defaultEndpoint } from './cri-socket.js'
import { type NodeFacts, requireClusterDocument, socketFactsOf } from './facts.js'
import type { GateDecision } from './gate.js'
import { readClusterDomain } from './kubeadm-documents.js'
import { completeKubeletConfig, newKubeletConfig, parseKubeletConfig } from './kubelet-config.js'
import { decideNewSocket, decideResetSocket, decideUpgradeSocket, type SocketChoice } from './node-socket.js'
import { kubeletConfigMap, kubeletConfigPath } from './paths.js'
import { decideGate, decideVersion, type NodeRequest } from './request.js'
import { decodeText, type YamlMap } from './yaml-text.js'

export interface PhaseContext {
  readonly request: NodeRequest
  readonly facts: NodeFacts
  readonly version: KubernetesVersion
  readonly gate: GateDecision
  readonly socket: SocketChoice
  /** The cluster's KubeletConfiguration, before anything of this node is put on it. */
  base(): YamlMap
}

export function decideContext(request: NodeRequest, facts: NodeFacts, needsSocket: boolean): PhaseContext {
  const version = decideVersion(request, facts)
  const gate: GateDecision =
    request.command === 'reset'
      ? { on: true, stage: 'ga', warnings: [] }
      : decideGate(request, facts, version.minor)
  const socket = needsSocket
    ? decideSocket(request, facts, version.minor, gate.on)
    : { endpoint: defaultEndpoint(facts.host.os), from: 'default' as const, warnings: [] }
  return { request, facts, version, gate, socket, base: () => baseDocument(request, facts) }
}

function decideSocket(request: NodeRequest, facts: NodeFacts, minor: number, gateOn: boolean): SocketChoice {
  switch (request.command) {
    case 'init':
    case 'join':
      return decideNewSocket(request.asked, { os: facts.host.os, listening: facts.listening })
    case 'reset':
      return decideResetSocket(request.asked, socketFactsOf(facts))
    default:
      return decideUpgradeSocket(minor, gateOn, request.profile, socketFactsOf(facts))
  }
}

function baseDocument({ command, documents, kubeletDocument }: NodeRequest, facts: NodeFacts): YamlMap {
  if (command === 'init') {
    const stored = facts.cluster?.kubeletConfig
    // A cluster that exists keeps its document unless the user brings another one.
    if (kubeletDocument === undefined && stored !== undefined)
      return completeKubeletConfig(parseKubeletConfig(stored, `ConfigMap kube-system/${kubeletConfigMap}`))
    return newKubeletConfig(
      kubeletDocument,
      readClusterDomain(documents.cluster, '--config') ?? 'cluster.local',
    )
  }
  if (facts.cluster !== undefined)
    return completeKubeletConfig(
      parseKubeletConfig(requireClusterDocument(facts), `ConfigMap kube-system/${kubeletConfigMap}`),
    )
  if (kubeletDocument !== undefined) return completeKubeletConfig(kubeletDocument)
  if (command === 'join' || facts.config === undefined)
    throw keelsonError(
      'usage.invalid',
      `${command} needs the cluster's KubeletConfiguration: use --kubeconfig to read it there, or --kubelet-config FILE`,
    )
  return completeKubeletConfig(
    parseKubeletConfig(decodeText(facts.config, kubeletConfigPath), kubeletConfigPath),
  )
}
