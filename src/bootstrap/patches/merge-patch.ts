// JSON Merge Patch (RFC 7386): null deletes, mappings merge, everything else replaces.
import { isMap, type YamlMap } from '../yaml-text.js'

export function mergePatch(target: unknown, patch: YamlMap): YamlMap {
  const result: YamlMap = isMap(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = isMap(value) ? mergePatch(result[key], value) : value
  }
  return result
}
