// Which config maps and secrets of its namespace the variables of containers are taken from.
import type { ContainerSpec } from '../../../core/pod/spec/spec.js'

interface Reference {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
}

/** Each once. */
export function objectReferences(
  containers: readonly Pick<ContainerSpec, 'env' | 'envFrom'>[],
): readonly Reference[] {
  const all = containers.flatMap(({ env, envFrom }): Reference[] => [
    ...envFrom.map(({ kind, object }) => ({ kind, name: object })),
    ...env.flatMap((variable): Reference[] => {
      if ('configMapKey' in variable) return [{ kind: 'configMap', name: variable.configMapKey.object }]
      return 'secretKey' in variable ? [{ kind: 'secret', name: variable.secretKey.object }] : []
    }),
  ])
  return [...new Map(all.map((ref) => [`${ref.kind}/${ref.name}`, ref])).values()]
}
