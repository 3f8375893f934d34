// One command as the user asked for it, after flags and config file were read and checked against each other.
import { keelsonError } from '../core/errors.js'
import { stepOf } from '../core/release/gate-history.js'
import type { Profile } from '../core/release/gate-table.js'
import { defaultVersion, type KubernetesVersion, parseVersion } from '../core/release/version.js'
import type { NodeFacts } from './facts.js'
import { decideClusterGate, decideInitGate, type GateDecision, gateName, parseFeatureGates } from './gate.js'
import {
  type CommandName,
  type KubeadmDocuments,
  readClusterGates,
  readClusterVersion,
} from './kubeadm-documents.js'
import type { KubeletFlag } from './kubelet-flags.js'
import type { AskedSocket } from './node-socket.js'
import type { ReadPatches } from './patches/patch-files.js'
import { kubeadmConfigMap } from './paths.js'
import type { YamlMap } from './yaml-text.js'

export interface NodeRequest {
  readonly command: CommandName
  readonly profile: Profile
  readonly nodeName: string | undefined
  readonly asked: AskedSocket
  readonly featureGates: string | undefined
  readonly kubernetesVersion: string | undefined
  readonly documents: KubeadmDocuments
  /** The user's KubeletConfiguration, from either file. */
  readonly kubeletDocument: YamlMap | undefined
  readonly extraArgs: readonly KubeletFlag[]
  readonly patches: ReadPatches
  readonly cleanupTmpDir: boolean
}

/** --cri-socket is not among the flags that may stand next to --config: two places would name one thing. */
export function checkMix(criSocketFlag: string | undefined, configFile: string | undefined): void {
  if (criSocketFlag !== undefined && configFile !== undefined)
    throw keelsonError(
      'usage.invalid',
      'can not mix --config with --cri-socket: set criSocket in the config file, or omit --config',
    )
}

const clusterSource = `ConfigMap kube-system/${kubeadmConfigMap}`

/** Low to high: newest known rules, the cluster's record (upgrade node), the config file, the flag. */
export function decideVersion(request: NodeRequest, facts: NodeFacts): KubernetesVersion {
  const { command, documents } = request
  const text =
    request.kubernetesVersion ??
    documents.upgrade?.kubernetesVersion ??
    readClusterVersion(documents.cluster, '--config') ??
    (command === 'init' || command === 'upgrade apply'
      ? undefined
      : readClusterVersion(facts.cluster?.clusterConfiguration, clusterSource))
  return text === undefined ? defaultVersion : parseVersion(text)
}

/** Gates that the user gave: the flag overrides the file. */
export const givenGates = (request: NodeRequest): Record<string, boolean> => ({
  ...readClusterGates(request.documents.cluster, '--config'),
  ...(request.featureGates === undefined ? {} : parseFeatureGates(request.featureGates)),
})

export function decideGate(request: NodeRequest, facts: NodeFacts, minor: number): GateDecision {
  const { command, profile } = request
  const given = givenGates(request)
  if (command === 'init') checkOtherGates(given, minor, profile)
  if (command === 'init') return decideInitGate(minor, profile, given[gateName])
  const role = command === 'join' ? 'join' : 'upgrade'
  if (facts.cluster === undefined) return decideClusterGate(minor, profile, given[gateName], role)
  if (request.featureGates !== undefined)
    throw keelsonError(
      'usage.invalid',
      `--feature-gates: ${command} takes the gates from ${clusterSource}; remove the flag, or remove --kubeconfig`,
    )
  const stored = readClusterGates(facts.cluster.clusterConfiguration, clusterSource)
  return decideClusterGate(minor, profile, stored[gateName], role)
}

/** kubeadm refuses names that its release does not have; what they do is its own business. */
function checkOtherGates(given: Readonly<Record<string, boolean>>, minor: number, profile: Profile): void {
  for (const name of Object.keys(given).filter((n) => n !== gateName)) {
    const step = stepOf(name, 'kubeadm', profile, minor)
    if (step === undefined || step.stage === 'removed')
      throw keelsonError(
        'config.invalid',
        `featureGates: ${name} is not a valid feature name in 1.${minor}`,
        {
          name,
        },
      )
  }
}
