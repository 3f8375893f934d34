// The Pod API as its own client library lists it: this node knows every field of it, to carry it out, to let it through, or
// to refuse it by name. One that it had never heard of would be an answer about a typo.
import {
  V1Capabilities,
  V1Container,
  V1ContainerPort,
  V1EmptyDirVolumeSource,
  V1EnvVarSource,
  V1HostPathVolumeSource,
  V1ObjectMeta,
  V1PodDNSConfig,
  V1PodSecurityContext,
  V1PodSpec,
  V1ResourceRequirements,
  V1SecurityContext,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { parsePodSpec } from '../../src/core/pod/spec/parse.js'
import { image, manifest } from '../support/pod-manifest.js'

type Fields = Readonly<Record<string, unknown>>
type Model = { readonly getAttributeTypeMap: () => readonly { readonly baseName: string }[] }

const container = (fields: Fields): Fields => manifest({ containers: [{ name: 'app', image, ...fields }] })
const volume = (fields: Fields): Fields => manifest({ volumes: [{ name: 'v', ...fields }] })

const places: readonly {
  readonly name: string
  readonly model: Model
  readonly put: (f: Fields) => Fields
}[] = [
  { name: 'metadata', model: V1ObjectMeta, put: (f) => manifest({}, f) },
  { name: 'spec', model: V1PodSpec, put: (f) => manifest(f) },
  { name: 'spec.securityContext', model: V1PodSecurityContext, put: (f) => manifest({ securityContext: f }) },
  { name: 'spec.dnsConfig', model: V1PodDNSConfig, put: (f) => manifest({ dnsConfig: f }) },
  { name: 'a volume', model: V1Volume, put: volume },
  { name: 'emptyDir', model: V1EmptyDirVolumeSource, put: (f) => volume({ emptyDir: f }) },
  { name: 'hostPath', model: V1HostPathVolumeSource, put: (f) => volume({ hostPath: f }) },
  { name: 'a container', model: V1Container, put: container },
  { name: 'its securityContext', model: V1SecurityContext, put: (f) => container({ securityContext: f }) },
  {
    name: 'its capabilities',
    model: V1Capabilities,
    put: (f) => container({ securityContext: { capabilities: f } }),
  },
  { name: 'its ports', model: V1ContainerPort, put: (f) => container({ ports: [f] }) },
  { name: 'its mounts', model: V1VolumeMount, put: (f) => container({ volumeMounts: [f] }) },
  {
    name: 'the source of a variable',
    model: V1EnvVarSource,
    put: (f) => container({ env: [{ name: 'A', valueFrom: f }] }),
  },
  { name: 'its resources', model: V1ResourceRequirements, put: (f) => container({ resources: f }) },
]

const problemsOf = (input: Fields): readonly string[] => {
  const parsed = parsePodSpec(input)
  return parsed.kind === 'pod' ? [] : parsed.problems.map((p) => `${p.path}: ${p.message}`)
}

for (const { name, model, put } of places)
  describe(name, () => {
    for (const { baseName } of model.getAttributeTypeMap())
      test(`${baseName} is known`, () => {
        expect(problemsOf(put({ [baseName]: {} })).join('\n')).not.toContain('is not a field of a Pod')
      })
  })

test('and a field that the API does not have is not', () => {
  for (const { put } of places.filter(({ name }) => name !== 'its resources'))
    expect(problemsOf(put({ surely: 1 })).join('\n')).toContain('surely: is not a field of a Pod')
})
