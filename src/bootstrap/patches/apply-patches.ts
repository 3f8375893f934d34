// Puts patches of any kind on a KubeletConfiguration, one after the other; the first that does not fit ends it.
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import { isMap, type YamlMap } from '../yaml-text.js'
import { jsonPatch } from './json-patch.js'
import { mergePatch } from './merge-patch.js'
import type { Patch } from './patch-files.js'
import { strategicPatch } from './strategic-patch.js'

function applyOne(document: YamlMap, { type, document: patch }: Patch): YamlMap {
  if (type === 'json') return jsonPatch(document, patch)
  if (!isMap(patch)) throw keelsonError('node.patch', `a ${type} patch must be a mapping of keys to values`)
  return type === 'merge' ? mergePatch(document, patch) : strategicPatch(document, patch)
}

export function applyPatches(document: YamlMap, patches: readonly Patch[]): YamlMap {
  return patches.reduce((current, patch) => {
    try {
      return applyOne(current, patch)
    } catch (e) {
      if (!isKeelsonError(e)) throw e
      const text = JSON.stringify(patch.document, (_, v) => (typeof v === 'bigint' ? v.toString() : v))
      throw keelsonError(
        'node.patch',
        `apply ${patch.type} patch ${patch.file} to target kubeletconfiguration: ${e.message}; patch: ${text.slice(0, 400)}`,
        { file: patch.file, type: patch.type },
        e,
      )
    }
  }, document)
}
