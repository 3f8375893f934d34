// Strategic merge for KubeletConfiguration. Its type names no merge keys, so lists replace as a whole; what is left
// beyond a merge patch are the directives.
import { keelsonError } from '../../core/errors.js'
import { isMap, isSameValue, type YamlMap } from '../yaml-text.js'

const deleteFromList = '$deleteFromPrimitiveList/'
const elementOrder = '$setElementOrder/'

export function strategicPatch(target: unknown, patch: YamlMap): YamlMap {
  const directive = patch.$patch
  if (directive === 'replace') return withoutDirectives(patch)
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'merge')
    throw keelsonError('node.patch', `unknown $patch directive ${JSON.stringify(directive)}`)
  const result: YamlMap = isMap(target) ? retained(target, patch.$retainKeys) : {}
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$patch' || key === '$retainKeys' || key.startsWith(elementOrder)) continue
    if (key.startsWith(deleteFromList)) removeFromList(result, key.slice(deleteFromList.length), value)
    else if (value === null) delete result[key]
    else if (isMap(value)) applyMap(result, key, value)
    else result[key] = value
  }
  return result
}

function applyMap(result: YamlMap, key: string, value: YamlMap): void {
  if (value.$patch === 'delete') delete result[key]
  else result[key] = strategicPatch(result[key], value)
}

function retained(target: YamlMap, keys: unknown): YamlMap {
  if (keys === undefined) return { ...target }
  if (!Array.isArray(keys)) throw keelsonError('node.patch', '$retainKeys is not a list')
  return Object.fromEntries(Object.entries(target).filter(([k]) => keys.includes(k)))
}

function removeFromList(result: YamlMap, key: string, values: unknown): void {
  if (!Array.isArray(values)) throw keelsonError('node.patch', `${deleteFromList}${key} is not a list`)
  const list = result[key]
  if (Array.isArray(list)) result[key] = list.filter((v) => !values.some((gone) => isSameValue(v, gone)))
}

const withoutDirectives = (patch: YamlMap): YamlMap =>
  Object.fromEntries(
    Object.entries(patch)
      .filter(([k, v]) => !k.startsWith('$') && v !== null)
      .map(([k, v]) => [k, isMap(v) ? withoutDirectives(v) : v]),
  )
