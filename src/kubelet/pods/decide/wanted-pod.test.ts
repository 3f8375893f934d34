import { describe, expect, test } from 'vitest'
import { image, manifest } from '../../../../test/support/pod-manifest.js'
import type { KubePod } from '../../../core/kube/objects.js'
import { readApiPod, wantsTheSame } from './wanted-pod.js'

const object = (spec: object = {}, metadata: object = {}, status: object = {}): KubePod =>
  ({ ...manifest({ ...spec }, { uid: 'u1', ...metadata }), status }) as KubePod

/** What the API server fills in, and what admission adds, of a pod that names only a container. */
const filledIn = {
  nodeName: 'n1',
  priority: 0,
  preemptionPolicy: 'PreemptLowerPriority',
  schedulerName: 'default-scheduler',
  serviceAccount: 'default',
  serviceAccountName: 'default',
  enableServiceLinks: true,
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  securityContext: {},
  tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
  containers: [
    {
      name: 'app',
      image,
      imagePullPolicy: 'IfNotPresent',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ],
}

describe('a pod of the API server', () => {
  test('with everything that the API server fills in is run', () => {
    const metadata = {
      generateName: 'web-',
      generation: 1,
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl' }],
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r1' }],
    }
    const pod = readApiPod(object(filledIn, metadata), '2026-01-01T00:00:01Z')
    expect(pod?.rejection).toBeUndefined()
    expect(pod?.spec?.pod).toMatchObject({ name: 'web', uid: 'u1' })
    expect(Object.fromEntries(pod?.spec?.pod.annotations ?? [])).toEqual({
      'kubernetes.io/config.seen': '2026-01-01T00:00:01Z',
      'kubernetes.io/config.source': 'api',
    })
  })

  test('with a field that is not carried out is rejected, and the message names it', () => {
    const pod = readApiPod(object({ hostUsers: false }), '')
    expect(pod).toMatchObject({
      uid: 'u1',
      spec: undefined,
      rejection: { reason: 'PodFeatureUnsupported', message: expect.stringMatching(/^spec\.hostUsers /) },
    })
  })

  test('without a name or a uid is none', () => {
    expect(readApiPod({ metadata: { name: 'x' } }, '')).toBeUndefined()
    expect(readApiPod({}, '')).toBeUndefined()
  })
})

describe('whether another object wants something else', () => {
  const before = object({}, { labels: { a: '1' } }, { phase: 'Pending' })
  for (const [name, now, same] of [
    ['another status', object({}, { labels: { a: '1' } }, { phase: 'Running' }), true],
    ['another version', object({}, { labels: { a: '1' }, resourceVersion: '9' }), true],
    ['other labels', object({}, { labels: { a: '2' } }), false],
    ['another spec', object({ hostname: 'x' }, { labels: { a: '1' } }), false],
    ['a deletion', object({}, { labels: { a: '1' }, deletionTimestamp: 't' }), false],
    ['a final phase', object({}, { labels: { a: '1' } }, { phase: 'Failed' }), false],
  ] as const)
    test(name, () => expect(wantsTheSame(before, now)).toBe(same))
})
