// config.yaml of a node: the cluster's document, the node's instance file and the user's patches, in that order.
import { keelsonError } from '../core/errors.js'
import type { Profile } from '../core/release/gate-table.js'
import { applyPatches } from './patches/apply-patches.js'
import type { Patch } from './patches/patch-files.js'
import { strategicPatch } from './patches/strategic-patch.js'
import { formatYaml, parseYamlMap, type YamlMap } from './yaml-text.js'

const apiVersion = 'kubelet.config.k8s.io/v1beta1'
const kind = 'KubeletConfiguration'

/** The endpoint is always shown, as an empty string if it is not set: upstream's type has no omit-empty rule for it. */
export const completeKubeletConfig = (document: YamlMap): YamlMap => ({
  apiVersion,
  kind,
  ...document,
  containerRuntimeEndpoint: document.containerRuntimeEndpoint ?? '',
})

/** What init fills in for a new cluster, as far as this KEP goes; docs/node.md names what is left to kubeadm. */
export const newKubeletConfig = (document: YamlMap | undefined, clusterDomain: string): YamlMap =>
  completeKubeletConfig({ cgroupDriver: 'systemd', clusterDomain, ...document })

export function parseKubeletConfig(text: string, what: string): YamlMap {
  const document = parseYamlMap(text, what)
  if (document === undefined) throw keelsonError('config.invalid', `read ${what}: it is empty`, { what })
  return checkKubeletConfig(document, what)
}

export function checkKubeletConfig(document: YamlMap, what: string): YamlMap {
  const found = `${String(document.apiVersion)}, ${String(document.kind)}`
  if (document.apiVersion !== apiVersion || document.kind !== kind)
    throw keelsonError('config.kind', `read ${what}: expected ${apiVersion}, ${kind}; found ${found}`, {
      what,
    })
  const endpoint = document.containerRuntimeEndpoint
  if (endpoint !== undefined && endpoint !== null && typeof endpoint !== 'string')
    throw keelsonError('config.invalid', `read ${what}: containerRuntimeEndpoint is not a string`, { what })
  return document
}

interface ConfigInput {
  readonly base: YamlMap
  /** Undefined with the gate off: the instance file is not read. */
  readonly instance: YamlMap | undefined
  readonly patches: readonly Patch[]
  readonly profile: Profile
}

/** The KEP gives the user's patch the last word; kubeadm gives it to the instance file. */
export function planKubeletConfig({ base, instance, patches, profile }: ConfigInput): string {
  const own = (d: YamlMap): YamlMap => (instance === undefined ? d : strategicPatch(d, instance))
  const result = profile === 'kep' ? applyPatches(own(base), patches) : own(applyPatches(base, patches))
  return formatYaml(result)
}

/** The endpoint that a config.yaml names; undefined for none, also when the text cannot be read. */
export function endpointOfConfig(text: string): string | undefined {
  try {
    const endpoint = parseYamlMap(text, 'config.yaml')?.containerRuntimeEndpoint
    return typeof endpoint === 'string' && endpoint !== '' ? endpoint : undefined
  } catch {
    return undefined
  }
}
