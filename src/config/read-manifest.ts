// Kubernetes manifests as text -> plain documents. What the documents mean is the core's business.

import type { Json } from './node.js'
import { toJson } from './node.js'
import type { Origin } from './origin.js'
import { commandLimits, parseYamlDocuments, servingLimits, type YamlLimits } from './parse-yaml.js'
import { decodeText, type NamedBytes } from './read-text.js'

interface ManifestLimits {
  readonly bytes: number
  readonly yaml: YamlLimits
}

/** Of the kubelet, which must not stop for a file: as much as Kubernetes lets all annotations of one object have. */
export const maxManifestBytes = 256 * 1024
const staticPodLimits: ManifestLimits = { bytes: maxManifestBytes, yaml: servingLimits }

/** Of commands: twice what an API server stores as one object. */
export const commandManifestLimits: ManifestLimits = { bytes: 3 * 1024 * 1024, yaml: commandLimits }

export interface ManifestDocument {
  readonly line: number
  readonly content: Json
}

export function readManifest(
  file: NamedBytes,
  limits: ManifestLimits = staticPodLimits,
): readonly ManifestDocument[] {
  const originAt = (line: number): Origin => ({ from: 'file', path: file.path, line })
  const text = decodeText(file, limits.bytes)
  return parseYamlDocuments(text, file.path, originAt, limits.yaml).map((node) => ({
    line: 'line' in node.origin ? node.origin.line : 1,
    content: toJson(node),
  }))
}
