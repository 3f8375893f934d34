// Everything a plan is made from, read once before anything is decided.
import { keelsonError } from '../core/errors.js'
import type { HostFacts, NodePorts } from '../ports/bootstrap.js'
import { wellKnownEndpoints } from './cri-socket.js'
import { endpointOfInstance, parseInstanceConfig } from './instance-config.js'
import { endpointOfConfig } from './kubelet-config.js'
import { endpointOfFlags, parseKubeletFlags } from './kubelet-flags.js'
import type { SocketFacts } from './node-socket.js'
import {
  criSocketAnnotation,
  instanceConfigPath,
  kubeadmConfigMap,
  kubeadmConfigMapKey,
  kubeletConfigMap,
  kubeletConfigMapKey,
  kubeletConfigPath,
  kubeletFlagsPath,
  undoPath,
} from './paths.js'
import { decodeText, parseYamlMap, type YamlMap } from './yaml-text.js'

interface ClusterFacts {
  readonly nodeRegistered: boolean
  readonly annotation: string | undefined
  /** The document of kube-system/kubelet-config, unchanged. */
  readonly kubeletConfig: string | undefined
  readonly clusterConfiguration: YamlMap | undefined
}

export interface NodeFacts {
  readonly host: HostFacts
  readonly nodeName: string
  readonly instance: Uint8Array | undefined
  readonly config: Uint8Array | undefined
  readonly flags: Uint8Array | undefined
  /** The undo records of earlier changes. */
  readonly undoRecord: Uint8Array | undefined
  readonly listening: readonly string[]
  /** Undefined: no kubeconfig was given. */
  readonly cluster: ClusterFacts | undefined
}

interface FactsWanted {
  readonly nodeName: string | undefined
  /** Phases that do not need a socket do not dial any. */
  readonly detect: boolean
}

export async function readNodeFacts(ports: NodePorts, wanted: FactsWanted): Promise<NodeFacts> {
  const host = await ports.host()
  const nodeName = wanted.nodeName ?? host.hostname.trim().toLowerCase()
  const [instance, config, flags, undoRecord] = await Promise.all(
    [instanceConfigPath, kubeletConfigPath, kubeletFlagsPath, undoPath].map((p) => ports.files.read(p)),
  )
  const listening = wanted.detect ? await listen(ports, host) : []
  const cluster = await readCluster(ports, nodeName)
  return { host, nodeName, instance, config, flags, undoRecord, listening, cluster }
}

async function listen(ports: NodePorts, host: HostFacts): Promise<string[]> {
  const known = wellKnownEndpoints[host.os]
  const answers = await Promise.all(known.map((e) => ports.sockets.answers(e)))
  return known.filter((_, i) => answers[i])
}

async function readCluster({ cluster }: NodePorts, nodeName: string): Promise<ClusterFacts | undefined> {
  if (cluster === undefined) return undefined
  const [node, kubelet, kubeadm] = await Promise.all([
    cluster.readNode(nodeName),
    cluster.readConfigMap(kubeletConfigMap),
    cluster.readConfigMap(kubeadmConfigMap),
  ])
  const text = kubeadm?.[kubeadmConfigMapKey]
  return {
    nodeRegistered: node !== undefined,
    annotation: node?.annotations[criSocketAnnotation],
    kubeletConfig: kubelet?.[kubeletConfigMapKey],
    clusterConfiguration:
      text === undefined ? undefined : parseYamlMap(text, `ConfigMap kube-system/${kubeadmConfigMap}`),
  }
}

/** Undefined: no such file. Text that is not a mapping ends in an error. */
export const instanceOf = (facts: NodeFacts): YamlMap | undefined =>
  facts.instance === undefined
    ? undefined
    : parseInstanceConfig(decodeText(facts.instance, instanceConfigPath))

export const flagsTextOf = (facts: NodeFacts): string | undefined =>
  facts.flags === undefined ? undefined : decodeText(facts.flags, kubeletFlagsPath)

export const socketFactsOf = (facts: NodeFacts): SocketFacts => ({
  os: facts.host.os,
  nodeName: facts.nodeName,
  listening: facts.listening,
  annotation: facts.cluster?.annotation,
  instanceEndpoint: () => endpointOfInstance(instanceOf(facts)),
  configEndpoint: () => configEndpointOf(facts),
  flagEndpoint: () => endpointOfFlags(parseKubeletFlags(flagsTextOf(facts) ?? '')),
})

/** Undefined also for a file that cannot be read as YAML: an upgrade writes it anew. */
export const configEndpointOf = ({ config }: NodeFacts): string | undefined =>
  config === undefined ? undefined : endpointOfConfig(new TextDecoder().decode(config))

export function requireClusterDocument(facts: NodeFacts): string {
  const text = facts.cluster?.kubeletConfig
  if (text === undefined)
    throw keelsonError(
      'node.cluster-incomplete',
      `read ConfigMap kube-system/${kubeletConfigMap}: it is missing or has no key ${kubeletConfigMapKey}; was the cluster created with init?`,
      { configMap: kubeletConfigMap },
    )
  return text
}
