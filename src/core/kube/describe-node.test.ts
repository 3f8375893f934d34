import { expect, test } from 'vitest'
import { describeNode } from './describe-node.js'

const nowMs = Date.parse('2026-01-10T00:00:00Z')

test('a Node on one page; text of others cannot move the cursor', () => {
  const page = describeNode({
    nowMs,
    node: {
      metadata: { name: 'n1', creationTimestamp: '2026-01-01T00:00:00Z', labels: { a: 'b' } },
      spec: {
        podCIDRs: ['10.0.0.0/24'],
        unschedulable: true,
        taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }],
      },
      status: {
        capacity: { memory: '8Gi', cpu: '4' },
        allocatable: { cpu: '3500m', memory: '7Gi' },
        addresses: [{ type: 'InternalIP', address: '10.0.0.7' }],
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            lastTransitionTime: '2026-01-09T23:59:00Z',
            reason: 'KubeletNotReady',
            message: 'down\u001b[2J',
          },
        ],
        nodeInfo: {
          kubeletVersion: 'v1.37.1+keelson.0.1.0',
          containerRuntimeVersion: 'containerd://2.1.4',
          osImage: 'Debian',
          kernelVersion: '6.1',
          architecture: 'amd64',
        },
      },
    },
    lease: { spec: { renewTime: '2026-01-09T23:59:56.000000Z', leaseDurationSeconds: 40 } },
    events: [
      {
        type: 'Normal',
        reason: 'NodeReady',
        message: 'Node n1 status is now: NodeReady',
        at: '2026-01-09T20:00:00Z',
      },
    ],
  })
  expect(page).toBe(`Name:          n1
Created:       9d
Lease:         renewed 4s ago, lasts 40 s
Schedulable:   no (cordoned)
Pod addresses: 10.0.0.0/24
Kubelet:       v1.37.1+keelson.0.1.0, containerd://2.1.4
Machine:       Debian, Linux 6.1 amd64
Conditions:
  TYPE   STATUS  SINCE  REASON           MESSAGE
  Ready  False   60s    KubeletNotReady  down [2J
Addresses:
  InternalIP: 10.0.0.7
Resources:
  NAME    CAPACITY  ALLOCATABLE
  cpu     4         3500m
  memory  8Gi       7Gi
Taints:
  k=v:NoSchedule
Labels:
  a=b
Events:
  AGE  TYPE    REASON     MESSAGE
  4h   Normal  NodeReady  Node n1 status is now: NodeReady
`)
})

test('a bare Node: what is not there is said', () => {
  const page = describeNode({ nowMs, node: {}, lease: undefined, events: [] })
  expect(page).toContain('Lease:         none')
  expect(page).toContain('Conditions: none')
})
