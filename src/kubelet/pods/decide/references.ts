// Which config maps and secrets of its namespace a pod refers to, each once.
import { allContainerSpecs, type ContainerSpec, type PodSpec } from '../../../core/pod/spec/spec.js'
import type { ObjectReference } from '../../objects/node-objects.js'

/** Everything that the kubelet may read for the pod. */
export const podReferences = (spec: PodSpec): readonly ObjectReference[] =>
  eachOnce([
    ...allContainerSpecs(spec).flatMap(environmentReferences),
    ...volumeReferences(spec.volumes),
    ...spec.imagePullSecrets.map((name) => ({ kind: 'secret' as const, name })),
  ])

/** What the files of volumes are taken from. */
const volumeReferences = (volumes: PodSpec['volumes']): readonly ObjectReference[] =>
  volumes.flatMap((volume): readonly ObjectReference[] => {
    const sources = volume.kind === 'projected' ? volume.sources : [volume]
    return sources.flatMap((source) =>
      source.kind === 'configMap' || source.kind === 'secret'
        ? [{ kind: source.kind, name: source.object }]
        : [],
    )
  })

/** What the variables of a container are taken from. */
export const environmentReferences = ({
  env,
  envFrom,
}: Pick<ContainerSpec, 'env' | 'envFrom'>): readonly ObjectReference[] =>
  eachOnce([
    ...envFrom.map(({ kind, object }) => ({ kind, name: object })),
    ...env.flatMap((variable): ObjectReference[] => {
      if ('configMapKey' in variable) return [{ kind: 'configMap', name: variable.configMapKey.object }]
      return 'secretKey' in variable ? [{ kind: 'secret', name: variable.secretKey.object }] : []
    }),
  ])

const eachOnce = (all: readonly ObjectReference[]): readonly ObjectReference[] => [
  ...new Map(all.map((ref) => [`${ref.kind}/${ref.name}`, ref])).values(),
]
