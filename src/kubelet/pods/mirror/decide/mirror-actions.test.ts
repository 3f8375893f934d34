import { expect, test } from 'vitest'
import type { KubePod } from '../../../../core/kube/objects.js'
import { decideMirrors, type StaticPodNow } from './mirror-actions.js'

const pod = (more: Partial<StaticPodNow> = {}): StaticPodNow => ({
  uid: 'h1',
  namespace: 'default',
  name: 'web-n1',
  hash: 'h1',
  terminating: false,
  ...more,
})
const mirror = (hash = 'h1', more: object = {}): KubePod => ({
  metadata: {
    namespace: 'default',
    name: 'web-n1',
    uid: 'm1',
    annotations: { 'kubernetes.io/config.mirror': hash },
    ...more,
  },
})
const remove = (one: KubePod) => ({ kind: 'remove', mirror: one })
const create = { kind: 'create', uid: 'h1' }
const deleted = mirror('h1', { deletionTimestamp: '2026-01-01T00:00:00Z' })
const ending = pod({ uid: 'h0', hash: 'h0', terminating: true })

for (const { name, statics, mirrors, complete = true, actions } of [
  { name: 'a static pod without a mirror gets one', statics: [pod()], mirrors: [], actions: [create] },
  { name: 'its mirror stays', statics: [pod()], mirrors: [mirror()], actions: [] },
  {
    name: 'the mirror of another manifest is replaced',
    statics: [pod()],
    mirrors: [mirror('h0')],
    actions: [remove(mirror('h0')), create],
  },
  {
    name: 'one that is being deleted is removed and made anew',
    statics: [pod()],
    mirrors: [deleted],
    actions: [remove(deleted), create],
  },
  {
    name: 'while the pod ends, its mirror shows how',
    statics: [pod(), ending],
    mirrors: [mirror('h0')],
    actions: [],
  },
  { name: 'a mirror without a pod goes', statics: [], mirrors: [mirror()], actions: [remove(mirror())] },
  {
    name: 'but not before every source was read',
    statics: [],
    mirrors: [mirror()],
    complete: false,
    actions: [],
  },
])
  test(name, () => expect(decideMirrors({ statics, mirrors, complete })).toEqual(actions))
