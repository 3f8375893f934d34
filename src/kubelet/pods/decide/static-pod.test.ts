import { describe, expect, test } from 'vitest'
import { image, specOf } from '../../../../test/support/pod-manifest.js'
import { canonicalJson, identifyStaticPod, type StaticPodOrigin } from './static-pod.js'

/** Stands for a hash: different texts give different results, and the test sees none of it. */
const texts = new Map<string, string>()
const digest = (text: string): string => {
  const known = texts.get(text) ?? `${(texts.size + 1).toString(16).padStart(32, '0')}00`
  texts.set(text, known)
  return known
}
const origin: StaticPodOrigin = {
  file: '/m/a.yaml',
  nodeName: 'Node-1',
  seenAt: 't',
  resize: 'Recreate',
  digest,
}
const uidOf = (spec: object, more: Partial<StaticPodOrigin> = {}): string =>
  identifyStaticPod(specOf({ ...spec }), { ...origin, ...more }).pod.uid
const sized = (requests: object, limits: object = {}) => ({
  containers: [{ name: 'app', image, resources: { requests, limits } }],
})

test('name, uid and annotations of a static pod', () => {
  const { pod } = identifyStaticPod(specOf(), origin)
  expect(pod.name).toBe('web-node-1')
  expect(pod.uid).toHaveLength(32)
  expect(pod.annotations.get('kubernetes.io/config.hash')).toBe(pod.uid)
  expect(pod.annotations.get('kubernetes.io/config.source')).toBe('file')
  expect(pod.annotations.get('kubernetes.io/config.seen')).toBe('t')
})

describe('the uid', () => {
  test('stays for the same content, however it is written and whenever it is seen', () => {
    expect(uidOf({ hostNetwork: true, hostPID: null })).toBe(
      uidOf({ hostNetwork: true }, { seenAt: 'later' }),
    )
  })
  for (const [name, spec, more] of [
    ['an edit', { hostNetwork: true }, {}],
    ['another file', {}, { file: '/m/b.yaml' }],
    ['another node', {}, { nodeName: 'n2' }],
  ] as const)
    test(`changes with ${name}`, () => expect(uidOf(spec, more)).not.toBe(uidOf({})))

  test('Recreate: other amounts are another pod', () => {
    expect(uidOf(sized({ cpu: '1' }))).not.toBe(uidOf(sized({ cpu: '2' })))
  })
  test('InPlace: other amounts of cpu and memory are the same pod', () => {
    const inPlace = { resize: 'InPlace' } as const
    expect(uidOf(sized({ cpu: '1', memory: '1Mi' }), inPlace)).toBe(
      uidOf(sized({ cpu: '2' }, { memory: '3Mi' }), inPlace),
    )
    expect(uidOf(sized({ cpu: '1' }), inPlace)).toBe(uidOf(sized({ memory: '1Mi' }), inPlace))
  })
  test('InPlace: another class or another resource is another pod', () => {
    const inPlace = { resize: 'InPlace' } as const
    expect(uidOf(sized({ cpu: '1' }), inPlace)).not.toBe(uidOf(sized({}), inPlace))
    expect(uidOf(sized({ cpu: '1' }), inPlace)).not.toBe(
      uidOf(sized({ cpu: '1', 'x.io/y': '1' }, { 'x.io/y': '1' }), inPlace),
    )
  })
})

test('canonical JSON: order, nulls and big numbers', () => {
  expect(canonicalJson({ b: 1, a: [null, 2n ** 70n], c: null, d: { e: null } })).toBe(
    '{"a":[null,1180591620717411303424],"b":1}',
  )
})
