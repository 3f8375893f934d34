// The Node as a whole: created, brought into line, patched, reported; its labels, its Lease and its version.
import { describe, expect, test } from 'vitest'
import type { KubeNode } from '../../../core/kube/objects.js'
import { decideImages } from './images.js'
import { kubeletVersion } from './kubelet-version.js'
import { renewedLease } from './lease.js'
import { newNode, type RegistrationSettings, reconcileNode } from './new-node.js'
import { parseNodeLabels } from './node-labels.js'
import { hasNodeChanged, nodeStatusPatch } from './node-patch.js'
import { decideReport, neverReported } from './report-due.js'
import { formatRuntimeVersion } from './runtime-version.js'

const settings: RegistrationSettings = {
  name: 'n1',
  os: 'linux',
  arch: 'amd64',
  labels: {},
  taints: [],
  providerId: undefined,
  isCloudExternal: false,
  controllerAttachDetach: true,
}

describe('registration', () => {
  test('labels of the command line beat the five of every node', () => {
    const { metadata } = newNode({ ...settings, labels: { 'kubernetes.io/hostname': 'other', a: 'b' } })
    expect(metadata?.labels).toEqual({
      'kubernetes.io/hostname': 'other',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'beta.kubernetes.io/arch': 'amd64',
      a: 'b',
    })
  })

  test('an external cloud: the taint that its controller takes away', () => {
    expect(newNode({ ...settings, isCloudExternal: true }).spec?.taints).toEqual([
      { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
    ])
    expect(newNode(settings).spec).toEqual({})
    expect(newNode({ ...settings, controllerAttachDetach: false }).metadata).not.toHaveProperty('annotations')
  })

  test('an existing Node keeps what is not ours', () => {
    const existing: KubeNode = {
      metadata: {
        name: 'n1',
        uid: 'u',
        labels: { x: 'y', 'kubernetes.io/os': 'other' },
        annotations: { z: '1' },
      },
      spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] },
      status: {
        capacity: { cpu: '1', 'hugepages-1Gi': '0' },
        allocatable: { cpu: '1', 'hugepages-1Gi': '0' },
      },
    }
    const wanted = {
      ...newNode({ ...settings, labels: { mine: '1', 'topology.kubernetes.io/zone': 'z' } }),
      status: {
        capacity: { cpu: '9', 'hugepages-2Mi': '4Mi' },
        allocatable: { cpu: '8', 'hugepages-2Mi': '4Mi' },
      },
    }
    const node = reconcileNode(existing, wanted)
    expect(node.metadata?.labels).toMatchObject({
      x: 'y',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': 'z',
    })
    expect(node.metadata?.labels).not.toHaveProperty('mine')
    expect(node.spec).toEqual(existing.spec)
    expect(node.status?.capacity).toEqual({ cpu: '1', 'hugepages-2Mi': '4Mi' })
    expect(nodeStatusPatch(existing, node)).toMatchObject({
      metadata: { uid: 'u' },
      status: { capacity: { 'hugepages-1Gi': null, 'hugepages-2Mi': '4Mi' } },
    })
    expect(nodeStatusPatch(node, reconcileNode(node, wanted))).toBeUndefined()
  })

  for (const label of [
    'node-restriction.kubernetes.io/a=b',
    'a.node-restriction.kubernetes.io/a=b',
    'node-role.kubernetes.io/control-plane=',
    'kubernetes.io/cluster=a',
    'x.k8s.io/a=b',
  ])
    test(`a node may not give itself ${label}`, () => {
      expect(() => parseNodeLabels(`fine=1,${label}`)).toThrow('may not give itself')
    })

  test('labels that it may give itself', () => {
    expect(
      parseNodeLabels(
        'a=b, c= ,node.kubernetes.io/instance-type=x,a.kubelet.kubernetes.io/b=1,example.com/r=',
      ),
    ).toEqual({
      a: 'b',
      c: '',
      'node.kubernetes.io/instance-type': 'x',
      'a.kubelet.kubernetes.io/b': '1',
      'example.com/r': '',
    })
  })
})

describe('reports', () => {
  const node: KubeNode = {
    metadata: { uid: 'u' },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '1' }],
      capacity: { cpu: '1' },
    },
  }
  const with_ = (status: KubeNode['status']): KubeNode => ({ ...node, status: { ...node.status, ...status } })

  test('a heartbeat alone is no change, but it is in the patch', () => {
    const beat = with_({ conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2' }] })
    expect(hasNodeChanged(node, beat)).toBe(false)
    expect(nodeStatusPatch(node, beat)).toEqual({
      metadata: { uid: 'u' },
      status: {
        conditions: [{ type: 'Ready', lastHeartbeatTime: '2' }],
        '$setElementOrder/conditions': [{ type: 'Ready' }],
      },
    })
    expect(hasNodeChanged(node, with_({ capacity: { cpu: '2' } }))).toBe(true)
  })

  const report = { reportFrequencyMs: 300_000, random: 0.75 }
  test('at once when changed, else at the frequency; moved by chance after a change', () => {
    const first = decideReport({ ...report, state: neverReported, nowMs: 0, changed: false })
    expect(first).toEqual({ lastSentMs: 0, delayMs: 75_000 })
    const state = first ?? neverReported
    expect(decideReport({ ...report, state, nowMs: 374_999, changed: false })).toBeUndefined()
    expect(decideReport({ ...report, state, nowMs: 10, changed: true })).toEqual({
      lastSentMs: 10,
      delayMs: 75_000,
    })
    expect(decideReport({ ...report, state, nowMs: 375_000, changed: false })).toEqual({
      lastSentMs: 375_000,
      delayMs: 0,
    })
  })
})

describe('lease', () => {
  const input = { nodeName: 'n1', durationSeconds: 40, nodeUid: 'u', base: undefined }
  const nanos = (time: string): bigint => BigInt(Date.parse(time)) * 1_000_000n

  test('a new one', () => {
    expect(renewedLease({ ...input, nowNanos: nanos('2026-01-01T00:00:00.123Z') + 4_567n })).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'n1',
        namespace: 'kube-node-lease',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' }],
      },
      spec: { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.123004Z' },
    })
  })

  test('renewals only go forward, also when the clock is set back', () => {
    const base = renewedLease({ ...input, nowNanos: nanos('2026-01-01T01:00:00Z') })
    const back = renewedLease({ ...input, base, nowNanos: nanos('2026-01-01T00:00:00Z') })
    expect(back.spec?.renewTime).toBe('2026-01-01T01:00:00.000001Z')
    expect(
      renewedLease({ ...input, base: back, nowNanos: nanos('2026-01-01T00:00:10Z') }).spec?.renewTime,
    ).toBe('2026-01-01T01:00:00.000002Z')
  })

  test('a Lease of a Node that was deleted gets the new owner, one without an owner waits for it', () => {
    const base = renewedLease({ ...input, nodeUid: undefined, nowNanos: 0n })
    expect(base.metadata).not.toHaveProperty('ownerReferences')
    const owned = renewedLease({ ...input, base, nowNanos: 1n })
    expect(
      renewedLease({ ...input, base: owned, nodeUid: 'new', nowNanos: 2n }).metadata?.ownerReferences,
    ).toEqual([{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'new' }])
  })
})

test('versions', () => {
  expect(kubeletVersion({ minor: 37, patch: undefined }, '0.1.0')).toBe('v1.37.1+keelson.0.1.0')
  expect(kubeletVersion({ minor: 36, patch: 9 }, '0.1.0')).toBe('v1.36.9+keelson.0.1.0')
  for (const [version, shown] of [
    ['v2.1.4', '2.1.4'],
    ['1.7.24~ds1', '1.7.24'],
    ['1.34.0-rc.1+build', '1.34.0-rc.1+build'],
    ['devel', 'Unknown'],
  ] as const)
    expect(formatRuntimeVersion({ name: 'containerd', version })).toBe(`containerd://${shown}`)
})

test('images: the largest first, at most five names each, as many as asked for', () => {
  const image = (id: string, size: bigint, names: number) => ({
    id,
    size,
    repoDigests: [`${id}@sha256:1`],
    repoTags: Array.from({ length: names }, (_, i) => `${id}:${i}`),
  })
  const images = [image('a', 1n, 1), image('b', 3n, 9), image('c', 2n, 0)]
  expect(decideImages(images, 2)).toEqual([
    { names: ['b@sha256:1', 'b:0', 'b:1', 'b:2', 'b:3'], sizeBytes: 3 },
    { names: ['c@sha256:1'], sizeBytes: 2 },
  ])
  expect(decideImages(images, -1)).toHaveLength(3)
  expect(decideImages(images, 0)).toEqual([])
})
