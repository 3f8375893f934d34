import { expect, test } from 'vitest'
import type { KubeNode } from '../../../core/kube/objects.js'
import { liveCluster } from './live-cluster.js'

const server = 'https://10.0.0.1:6443'
const node = (ready: string, more: Partial<KubeNode> = {}, pressure = 'False'): KubeNode => ({
  status: {
    conditions: [
      { type: 'MemoryPressure', status: pressure },
      { type: 'Ready', status: ready, message: 'why' },
    ],
  },
  ...more,
})

test('a node that is fine has no problem', () => {
  expect(liveCluster({ server, node: node('True'), silentMs: undefined })).toEqual({
    server,
    ready: 'True',
    isSchedulable: true,
    problems: [],
  })
})

test.each([
  ['not registered', { node: undefined, silentMs: undefined }, null, ['the Node is not registered']],
  ['not ready', { node: node('False'), silentMs: undefined }, 'False', ['why']],
  [
    'an API server that is silent',
    { node: node('True'), silentMs: 12_400 },
    'True',
    ['the API server has not answered for 12 s; pods go on'],
  ],
  ['pressure', { node: node('True', {}, 'True'), silentMs: undefined }, 'True', ['MemoryPressure']],
])('%s', (_, facts, ready, problems) => {
  expect(liveCluster({ server, ...facts })).toMatchObject({ ready, problems })
})

test('a cordoned node takes no new pods', () => {
  const cordoned = node('True', { spec: { unschedulable: true } })
  expect(liveCluster({ server, node: cordoned, silentMs: undefined }).isSchedulable).toBe(false)
})
