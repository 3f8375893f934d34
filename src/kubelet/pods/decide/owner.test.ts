import { expect, test } from 'vitest'
import { isMarkedByOther, isOwnPod, type KubeletIdentity, ownMarks } from './owner.js'

const self: KubeletIdentity = {
  rootDir: '/var/lib/kubelet/',
  nodeName: 'Node-1',
  staticPodPath: '/etc/kubernetes/manifests/',
  hasApi: false,
}
const uid = '0123456789abcdef0123456789abcdef'
const file = '/etc/kubernetes/manifests/etcd.yaml'
const fromFile = { 'kubernetes.io/config.source': 'file' }
const marks = (more: Partial<KubeletIdentity>, manifest = file): Readonly<Record<string, string>> => ({
  ...fromFile,
  ...ownMarks({ ...self, ...more }, manifest),
})

for (const [what, own, annotations, more] of [
  ['made by this kubelet', true, marks({})],
  ['its node was renamed since', true, marks({ nodeName: 'other' })],
  ['its manifests were moved since', true, marks({}, '/old/etcd.yaml')],
  ['another node name and other manifests', false, marks({ nodeName: 'other' }, '/old/etcd.yaml')],
  ['another root directory', false, marks({ rootDir: '/var/lib/second' })],
  ['another root directory that begins alike', false, marks({ rootDir: '/var/lib/kubelet2' })],
  ["upstream's static pod", false, { ...fromFile, 'kubernetes.io/config.hash': uid }],
  ['a pod of the API', false, { ...marks({}), 'kubernetes.io/config.source': 'api' }],
  ['a uid that no static pod has', false, marks({}), { uid: '6f1d3b52-0c6e-4f0e-9d0a-7b1f0a6f9c11' }],
  ['made by 0.1.0', true, { ...fromFile, 'keelson.dev/manifest': file }],
  ['made by 0.1.0 from elsewhere', false, { ...fromFile, 'keelson.dev/manifest': '/else/etcd.yaml' }],
  [
    'made by 0.1.0 of another node',
    false,
    { ...fromFile, 'keelson.dev/manifest': file },
    { name: 'etcd-node-2' },
  ],
  [
    'made by 0.1.0 from a directory that begins alike',
    false,
    { ...fromFile, 'keelson.dev/manifest': '/etc/kubernetes/manifests.old/etcd.yaml' },
  ],
  ['nothing noted', false, {}],
] as readonly [string, boolean, Readonly<Record<string, string>>, object?][])
  test(`whose pod: ${what}: ${own ? 'ours' : 'left alone'}`, () =>
    expect(isOwnPod({ uid, name: 'etcd-node-1', annotations, ...more }, self)).toBe(own))

const fromApi = { 'kubernetes.io/config.source': 'api' }
for (const [what, own, annotations, inherited, name] of [
  ['a pod that the API server has removed', true, { ...marks({}), ...fromApi }, false, 'web'],
  [
    'one of a kubelet with another root directory',
    false,
    { ...marks({ rootDir: '/second' }), ...fromApi },
    true,
    'web',
  ],
  ["one that another kubelet left in this one's root directory", true, fromApi, true, 'web'],
  ['one without a mark and without a directory there', false, fromApi, false, 'web'],
  ['a static pod of the kubelet that was here before', true, fromFile, true, 'etcd-node-1'],
  ['a static pod of another node', false, fromFile, true, 'etcd-node-2'],
  ['a static pod of a kubelet elsewhere', false, fromFile, false, 'etcd-node-1'],
] as const)
  test(`whose pod, in a cluster: ${what}: ${own ? 'ours' : 'left alone'}`, () =>
    expect(isOwnPod({ uid, name, annotations, inherited }, { ...self, hasApi: true })).toBe(own))

test('the same uid under two root directories is the pod of the one that marked it', () => {
  expect(isMarkedByOther(marks({ rootDir: '/second' }), self)).toBe(true)
  expect(isMarkedByOther(marks({}), self)).toBe(false)
  expect(isMarkedByOther({}, self)).toBe(false)
})
