// Volumes of pods of an API server, down to the paths of their files: whatever the manifest and the object hold, nothing is
// written outside the volume, and no part of a volume lies outside it.
import { parsePodSpec } from '../../../src/core/pod/spec/parse.js'
import { allContainerSpecs, type PodSpec } from '../../../src/core/pod/spec/spec.js'
import { cleanFilePath } from '../../../src/kubelet/volumes/decide/file-path.js'
import {
  filesOfConfigMap,
  filesOfPod,
  filesOfSecret,
} from '../../../src/kubelet/volumes/decide/files-of-volume.js'
import { nestedMountPoints } from '../../../src/kubelet/volumes/decide/nested-mount-points.js'
import { subPathOf } from '../../../src/kubelet/volumes/decide/sub-path.js'
import { mutateText } from '../random.js'
import { check, type FuzzTarget } from '../types.js'
import { mutate } from './manifests.js'

const items = [{ key: 'k', path: 'a/b', mode: 256 }]
const downward = [
  { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
  { path: 'cpu', resourceFieldRef: { containerName: 'app', resource: 'limits.cpu', divisor: '1m' } },
]
const full = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'w' } },
  spec: {
    serviceAccountName: 'default',
    volumes: [
      { name: 'c', configMap: { name: 'cm', defaultMode: 420, items, optional: true } },
      { name: 's', secret: { secretName: 'se', items } },
      { name: 'd', downwardAPI: { defaultMode: 256, items: downward } },
      {
        name: 'p',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 3607, audience: 'a' } },
            { configMap: { name: 'kube-root-ca.crt', items } },
            { secret: { name: 'x', optional: true } },
            { downwardAPI: { items: downward } },
            {
              clusterTrustBundle: {
                signerName: 'a/b',
                labelSelector: { matchLabels: { a: 'b' } },
                path: 'ca',
              },
            },
          ],
        },
      },
      { name: 'e', emptyDir: { medium: 'HugePages-2Mi', sizeLimit: '1Gi' } },
      { name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
      { name: 'i', image: { reference: 'a/b:1', pullPolicy: 'Always' } },
      { name: 'n', csi: { driver: 'x' } },
    ],
    containers: [
      {
        name: 'app',
        image: 'a/b:1',
        volumeMounts: [
          { name: 'c', mountPath: '/c', subPath: 'a/b', readOnly: true, recursiveReadOnly: 'IfPossible' },
          { name: 'e', mountPath: '/c/d', subPathExpr: 'x/$(A)', mountPropagation: 'HostToContainer' },
        ],
      },
    ],
  },
}

interface Input {
  readonly document: unknown
  readonly key: string
  readonly variable: string
}

const isInside = (path: string): boolean =>
  !path.startsWith('/') && path !== '' && !path.split('/').includes('..') && !path.startsWith('..')

function filesOf(spec: PodSpec, key: string): readonly string[] {
  const found = { data: { [key]: 'x', k: 'y' } }
  return spec.volumes
    .flatMap((volume) => {
      const sources = volume.kind === 'projected' ? volume.sources : [volume]
      return sources.flatMap((source) => {
        if (source.kind === 'configMap') return filesOfConfigMap({ source, found, defaultMode: 0o644 })
        if (source.kind === 'secret') return filesOfSecret({ source, found, defaultMode: 0o644 })
        return source.kind === 'downwardAPI' ? filesOfPod(source.items, spec, 0o644, new Map()) : []
      })
    })
    .map(({ path }) => path)
}

export const volumes: FuzzTarget = {
  name: 'volumes',
  generate: (random): Input => ({
    document: mutate(full, random, random.pick([0, 1, 1, 2, 5])),
    key: mutateText(random.pick(['key', '../x', '..data', 'a/b', '/etc/passwd']), random),
    variable: mutateText(random.pick(['v', '..', '/', 'a/../../b']), random),
  }),
  run(input) {
    const { document, key, variable } = input as Input
    const parsed = parsePodSpec(document, 'api')
    if (parsed.kind === 'problems') return
    const { spec } = parsed
    for (const container of allContainerSpecs(spec))
      for (const mount of container.mounts) {
        const place = subPathOf(mount, () => variable)
        check(
          place === undefined || (!place.startsWith('/') && !place.split('/').includes('..')),
          'a part outside',
        )
        for (const nested of nestedMountPoints(spec, mount.volume))
          check(isInside(nested) || nested.startsWith('..'), 'a mount point outside')
      }
    for (const path of filesOf(spec, key)) check(isInside(cleanFilePath(path)), `a file at ${path}`)
  },
}
