import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { parseActuatedPod } from '../../memory-qos/decide/actuated-pod.js'
import { type PodTeller, settlePodUids } from './origin.js'
import type { PodResources } from './pod.js'

const hash = '0123456789abcdef0123456789abcdef'
const node = { apiVersion: 'v1', kind: 'Node', name: 'n1', controller: true }
const mirror = { 'kubernetes.io/config.mirror': hash }

const uidOf = (teller: PodTeller, annotations: object, ownerReferences: unknown): string | undefined =>
  parseActuatedPod(
    { metadata: { name: 'web', uid: 'u', annotations, ownerReferences }, spec: { nodeName: 'n1' } },
    teller,
  ).staticUid

describe('whether the annotations of a pod name its cgroup', () => {
  for (const [what, teller, annotations, owners, uid] of [
    ['a mirror pod that the node owns', 'api', mirror, [node], hash],
    ['owned by nobody', 'api', mirror, undefined, undefined],
    ['owned by another node', 'api', mirror, [{ ...node, name: 'n2' }], undefined],
    ['not controlled by the node', 'api', mirror, [{ ...node, controller: false }], undefined],
    ['owned by a ReplicaSet', 'api', mirror, [{ ...node, kind: 'ReplicaSet' }], undefined],
    ['owners that are no list', 'api', mirror, node, undefined],
    ['config.hash alone', 'api', { 'kubernetes.io/config.hash': hash }, [node], undefined],
    ['a uid that no kubelet gives', 'api', { 'kubernetes.io/config.mirror': 'a/b' }, [node], undefined],
    [
      'from a file, as the kubelet says',
      'kubelet',
      { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.source': 'file' },
      [],
      hash,
    ],
    [
      'from the API, as the kubelet says',
      'kubelet',
      { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.source': 'api' },
      [node],
      undefined,
    ],
    ['the kubelet does not say', 'kubelet', { 'kubernetes.io/config.hash': hash }, [node], undefined],
  ] as readonly [string, PodTeller, object, unknown, string | undefined][])
    test(`${what}: ${uid === undefined ? 'no' : 'yes'}`, () =>
      expect(uidOf(teller, annotations, owners)).toBe(uid))
})

test('whatever pods claim, no two have one cgroup, and a pod never loses its own uid to a claim', () => {
  const uids = ['a', 'b', 'c', 'd']
  const isOwn = ({ uid, staticUid = uid }: PodResources): boolean => staticUid === uid
  const plain = parseActuatedPod({ metadata: { name: 'x', uid: 'x' }, spec: {} })
  const any = fc.record({
    name: fc.constantFrom('p', 'q', 'r'),
    uid: fc.constantFrom(...uids),
    staticUid: fc.option(fc.constantFrom(...uids), { nil: undefined }),
  })
  const running = fc.dictionary(fc.constantFrom(...uids), fc.constantFrom('p', 'q', 'r'))
  assertProperty(
    fc.property(fc.array(any, { maxLength: 8 }), running, (given, names) => {
      const pods = given.map(({ staticUid, ...rest }): PodResources => {
        const own = { ...plain, ...rest }
        return staticUid === undefined ? own : { ...own, staticUid }
      })
      const settled = settlePodUids(pods, (uid) => {
        const name = names[uid]
        return name === undefined ? undefined : { namespace: 'default', name }
      })
      const taken = settled.pods.map((p) => p.uid)
      expect(new Set(taken).size).toBe(taken.length)
      for (const pod of pods) {
        if (!isOwn(pod)) continue
        // The first with that uid, never one that claims it.
        const first = pods.find((p) => p.uid === pod.uid && isOwn(p))
        expect(settled.pods.find((p) => p.uid === pod.uid)?.name).toBe(first?.name)
      }
    }),
  )
})
