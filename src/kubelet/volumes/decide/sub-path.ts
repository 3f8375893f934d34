// The part of a volume that a container mounts: its subPath, with variables of the container put in where it is an expression.
import type { VolumeMount } from '../../../core/pod/spec/volume.js'
import { expandReferences } from '../../environment/decide/expand.js'
import { volumeProblem } from './files-of-volume.js'

/** Relative, without `..`; undefined: the whole volume. Throws what keeps the container from being configured. */
export function subPathOf(
  { subPath }: Pick<VolumeMount, 'subPath'>,
  variable: (name: string) => string | undefined,
): string | undefined {
  if (subPath === undefined) return undefined
  const text = subPath.kind === 'path' ? subPath.text : expanded(subPath.text, variable)
  if (text === '') return undefined
  if (text.startsWith('/')) throw volumeProblem(`error SubPath \`${text}\` must not be an absolute path`)
  if (text.split('/').includes('..'))
    throw volumeProblem(`unable to provision SubPath \`${text}\`: must not contain '..'`)
  return text
}

function expanded(text: string, variable: (name: string) => string | undefined): string {
  const missing = new Set<string>()
  const result = expandReferences(text, (name) => {
    const value = variable(name)
    if (value === undefined || value === '') missing.add(name)
    return value ?? ''
  })
  if (missing.size > 0) throw volumeProblem(`missing value for ${[...missing].sort().join(', ')}`)
  return result
}
