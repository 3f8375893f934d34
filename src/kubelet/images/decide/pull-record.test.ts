import { describe, expect, test } from 'vitest'
import {
  formatPullRecord,
  mayUse,
  type PullRecord,
  type PullSecret,
  parsePullRecord,
  recordPull,
} from './pull-record.js'

const secret = (name: string, credentialHash = `hash-${name}`): PullSecret => ({
  uid: `u-${name}`,
  namespace: 'shop',
  name,
  credentialHash,
})
const repository = 'r.example.com/team/app'
const pulledWith = (one: PullSecret | undefined, before?: PullRecord): PullRecord =>
  recordPull(before, { imageRef: 'sha256:1', repository, with: one }, '2026-01-01T00:00:00Z')
const ask = {
  policy: 'NeverVerifyPreloadedImages',
  allowlist: [],
  repository,
  record: undefined,
  isIntended: false,
  podSecrets: [],
} as const

describe('who may use an image', () => {
  for (const [name, input, answer] of [
    ['not pulled here', {}, true],
    ['a pull that was never finished', { isIntended: true }, false],
    ['pulled without credentials', { record: pulledWith(undefined) }, true],
    ['pulled with a secret, the pod has none', { record: pulledWith(secret('a')) }, false],
    ['the same secret', { record: pulledWith(secret('a')), podSecrets: [secret('a')] }, true],
    [
      'the same secret with another password',
      { record: pulledWith(secret('a')), podSecrets: [secret('a', 'new')] },
      true,
    ],
    [
      'another secret with the same password',
      { record: pulledWith(secret('a', 'h')), podSecrets: [secret('b', 'h')] },
      true,
    ],
    ['another secret', { record: pulledWith(secret('a')), podSecrets: [secret('b')] }, false],
    [
      'two without a hash are not the same',
      { record: pulledWith(secret('a', '')), podSecrets: [secret('b', '')] },
      false,
    ],
    ['under another name', { record: pulledWith(undefined), repository: 'r.example.com/other' }, false],
    ['AlwaysVerify, not pulled here', { policy: 'AlwaysVerify' }, false],
    ['NeverVerify', { policy: 'NeverVerify', record: pulledWith(secret('a')) }, true],
    ['on the list', { policy: 'NeverVerifyAllowlistedImages', allowlist: ['r.example.com/team/*'] }, true],
    ['not on the list', { policy: 'NeverVerifyAllowlistedImages', allowlist: ['r.example.com/team'] }, false],
  ] as const)
    test(`${name}: ${answer}`, () => expect(mayUse({ ...ask, ...input })).toBe(answer))
})

test('secrets add up, and one pull without any opens the image for all', () => {
  const two = pulledWith(secret('b'), pulledWith(secret('a')))
  expect(two.credentialMapping[repository]?.kubernetesSecrets?.map(({ name }) => name)).toEqual(['b', 'a'])
  expect(pulledWith(secret('c'), pulledWith(undefined, two)).credentialMapping[repository]).toEqual({
    nodePodsAccessible: true,
  })
})

test("records are upstream's, both ways; what is none is not taken for one", () => {
  const record = pulledWith(secret('a'))
  expect(parsePullRecord(formatPullRecord(record))).toEqual(record)
  const older = '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1","imageRef":"x"}'
  expect(parsePullRecord(older)).toMatchObject({ imageRef: 'x', credentialMapping: {} })
  const odd =
    '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","imageRef":"x","credentialMapping":{"a":null,"b":{"kubernetesSecrets":[null,1]},"c":{"kubernetesSecrets":"x"}}}'
  for (const name of ['a', 'b', 'c'])
    expect(
      mayUse({ ...ask, repository: name, record: parsePullRecord(odd), podSecrets: [secret('', '')] }),
    ).toBe(false)
  for (const text of ['', '[]', '{"kind":"Pod"}', 'null']) expect(parsePullRecord(text)).toBeUndefined()
})
