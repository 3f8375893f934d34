// Kubernetes manifests as text -> plain documents. What the documents mean is the core's business.

import type { Json } from './node.js'
import { toJson } from './node.js'
import type { Origin } from './origin.js'
import { parseYamlDocuments } from './parse-yaml.js'
import { decodeText, type NamedBytes } from './read-text.js'

/** Twice what an API server stores as one object. */
export const maxManifestBytes = 3 * 1024 * 1024

export interface ManifestDocument {
  readonly line: number
  readonly content: Json
}

export function readManifest(file: NamedBytes): readonly ManifestDocument[] {
  const originAt = (line: number): Origin => ({ from: 'file', path: file.path, line })
  return parseYamlDocuments(decodeText(file, maxManifestBytes), file.path, originAt).map((node) => ({
    line: 'line' in node.origin ? node.origin.line : 1,
    content: toJson(node),
  }))
}
