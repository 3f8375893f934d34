// JSON Patch (RFC 6902) on a copy of a document. The package does the work; the shape of the operations and the
// bounds of lists, which it takes as they come, are checked here.
import { applyPatch, type Operation } from 'rfc6902'
import { keelsonError } from '../../core/errors.js'
import { isMap, type YamlMap } from '../yaml-text.js'

const operations = ['add', 'remove', 'replace', 'move', 'copy', 'test']

export function jsonPatch(target: YamlMap, patch: unknown): YamlMap {
  if (!Array.isArray(patch)) throw bad('a json patch must be a list of operations')
  const result = structuredClone(target)
  for (const [i, operation] of patch.entries()) {
    const checked = checkOperation(operation, i)
    checkIndex(result, checked, i)
    const [error] = applyPatch(result, [checked])
    if (error !== null && error !== undefined)
      throw bad(`operation ${i} (${checked.op} ${checked.path}): ${error.message}`)
  }
  return result
}

const bad = (why: string) => keelsonError('node.patch', why)

function checkOperation(operation: unknown, i: number): Operation {
  if (!isMap(operation)) throw bad(`operation ${i} is not a mapping`)
  const { op, path, from } = operation
  if (typeof op !== 'string' || !operations.includes(op))
    throw bad(`operation ${i}: op must be one of ${operations.join(', ')}`)
  if (typeof path !== 'string' || !(path === '' || path.startsWith('/')))
    throw bad(`operation ${i}: path must begin with /`)
  if (path === '' && op !== 'test') throw bad(`operation ${i}: the whole document cannot be replaced`)
  if ((op === 'move' || op === 'copy') && (typeof from !== 'string' || !from.startsWith('/')))
    throw bad(`operation ${i}: from must begin with /`)
  if (op === 'move' && typeof from === 'string' && `${path}/`.startsWith(`${from}/`))
    throw bad(`operation ${i}: a value cannot move into itself`)
  if (['add', 'replace', 'test'].includes(op) && !('value' in operation))
    throw bad(`operation ${i}: ${op} needs a value`)
  if (/(^|\/)(__proto__|constructor|prototype)(\/|$)/.test(`${path}/${typeof from === 'string' ? from : ''}`))
    throw bad(`operation ${i}: the path has a forbidden key`)
  return operation as unknown as Operation
}

/** A position in a list must exist, or be its end for what is put in. */
function checkIndex(document: YamlMap, operation: Operation, i: number): void {
  const parts = operation.path
    .split('/')
    .slice(1)
    .map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = parts.pop()
  if (last === undefined) return
  let parent: unknown = document
  for (const part of parts)
    parent = Array.isArray(parent) ? parent[Number(part)] : isMap(parent) ? parent[part] : undefined
  const puts = ['add', 'move', 'copy'].includes(operation.op)
  if (parent === undefined || (!Array.isArray(parent) && !isMap(parent)))
    throw bad(`operation ${i} (${operation.op} ${operation.path}): no such value`)
  if (!Array.isArray(parent)) return
  if (puts && last === '-') return
  const index = /^(0|[1-9]\d*)$/.test(last) ? Number(last) : Number.NaN
  if (!(index < parent.length || (puts && index === parent.length)))
    throw bad(`operation ${i} (${operation.op} ${operation.path}): no such index in the list`)
}
