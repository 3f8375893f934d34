// upload-config of init and upgrade apply: the two ConfigMaps of kube-system, and the annotation.
import { formatVersion } from '../../core/release/version.js'
import type { PhaseContext } from '../context.js'
import { kubeadmConfigMap, kubeadmConfigMapKey, kubeletConfigMap, kubeletConfigMapKey } from '../paths.js'
import { annotate, type ClusterChange, type PlanPart } from '../plan.js'
import { givenGates } from '../request.js'
import { formatYaml, isMap, type YamlMap } from '../yaml-text.js'
import type { Phase } from './phase.js'

/** The cluster's own document never holds a socket, and the gate only if the user set it. */
function planUploadKubeadm(ctx: PhaseContext): PlanPart {
  const { request, facts, version } = ctx
  const stored = facts.cluster?.clusterConfiguration ?? {}
  const gates = givenGates(request)
  const named = request.documents.cluster ?? {}
  const document: YamlMap = {
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'ClusterConfiguration',
    kubernetesVersion: `v${formatVersion({ ...version, patch: version.patch ?? 0 })}`,
    ...stored,
    ...named,
  }
  const storedGates = isMap(stored.featureGates) && !('featureGates' in named) ? stored.featureGates : {}
  const featureGates = { ...storedGates, ...gates }
  if (Object.keys(featureGates).length > 0) document.featureGates = featureGates
  return { cluster: [configMap(kubeadmConfigMap, kubeadmConfigMapKey, document)] }
}

/**
 * The KEP uploads a socket that init found by itself; kubeadm left that out, since other nodes have no use for it.
 * A socket that was asked for stays with the node in both.
 */
function planUploadKubelet(ctx: PhaseContext): PlanPart {
  const { gate, socket, request, facts } = ctx
  const found = socket.from === 'detected' || socket.from === 'default'
  const base = ctx.base()
  const uploads = gate.on && found && request.profile === 'kep'
  const document = uploads ? { ...base, containerRuntimeEndpoint: socket.endpoint } : base
  return {
    cluster: [
      configMap(kubeletConfigMap, kubeletConfigMapKey, document),
      ...(gate.on ? [] : [annotate(facts.nodeName, socket.endpoint)]),
    ],
  }
}

/** upgrade apply leaves the document as it is; the annotation follows the gate. */
function planUpgradeAnnotation(ctx: PhaseContext): PlanPart {
  return {
    cluster: ctx.gate.on ? removedAnnotation(ctx) : [annotate(ctx.facts.nodeName, ctx.socket.endpoint)],
  }
}

/** 1.32 leaves it, 1.37 no longer knows it. */
export const removedAnnotation = ({ version, facts }: PhaseContext): ClusterChange[] =>
  version.minor >= 33 && version.minor <= 36 ? [annotate(facts.nodeName, undefined)] : []

const configMap = (name: string, key: string, document: YamlMap): ClusterChange => ({
  kind: 'config-map',
  name,
  data: { [key]: formatYaml(document) },
})

export const uploadConfig: Phase = {
  name: 'upload-config',
  help: 'upload the configuration of kubeadm and of the kubelet to ConfigMaps',
  usesSocket: true,
  phases: [
    {
      name: 'kubeadm',
      help: 'upload the ClusterConfiguration to kube-system/kubeadm-config',
      usesSocket: false,
      plan: planUploadKubeadm,
    },
    {
      name: 'kubelet',
      help: 'upload the KubeletConfiguration to kube-system/kubelet-config; annotate the Node if the gate is off',
      usesSocket: true,
      plan: planUploadKubelet,
    },
  ],
}

export const upgradeUploadConfig: Phase = {
  name: 'upload-config',
  help: 'update the records of this node in the cluster according to the gate',
  usesSocket: true,
  phases: [
    {
      name: 'kubelet',
      help: 'write the CRI socket annotation (gate off) or remove it (gate on)',
      usesSocket: true,
      plan: planUpgradeAnnotation,
    },
  ],
}
