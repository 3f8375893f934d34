import { describe, expect, test } from 'vitest'
import { formatQuantity } from '../units/quantity.js'
import type { ResourceList } from '../units/resource-list.js'
import { applyPodDefaults } from './defaults.js'
import { parsePod } from './parse-pod.js'
import { qosClassOf } from './qos-class.js'
import { hasEveryMemoryLimit, podLimits, podRequests } from './resources.js'

const container = (name: string, requests: object = {}, limits: object = {}, more: object = {}) => ({
  name,
  resources: { requests, limits },
  ...more,
})
const pod = (spec: object, status: object = {}) =>
  parsePod({ metadata: { name: 'p', uid: '1' }, spec, status })
const shown = (list: ResourceList) => Object.fromEntries([...list].map(([k, q]) => [k, formatQuantity(q)]))
const full = { cpu: '1', memory: '1Gi' }

describe('QoS class', () => {
  for (const [name, spec, qosClass] of [
    ['no containers', {}, 'BestEffort'],
    ['nothing named', { containers: [container('a')] }, 'BestEffort'],
    ['all equal', { containers: [container('a', full, full)] }, 'Guaranteed'],
    [
      'equal by number',
      { containers: [container('a', { cpu: '1000m', memory: '1024Mi' }, full)] },
      'Guaranteed',
    ],
    [
      'memory only, equal',
      { containers: [container('a', { memory: '1Gi' }, { memory: '1Gi' })] },
      'Burstable',
    ],
    ['limits only', { containers: [container('a', {}, full)] }, 'Burstable'],
    [
      'explicit zeros',
      { containers: [container('a', { cpu: 0, memory: 0 }, { cpu: 0, memory: 0 })] },
      'BestEffort',
    ],
    ['extended only', { containers: [container('a', { 'x.io/gpu': 1 }, { 'x.io/gpu': 1 })] }, 'BestEffort'],
    [
      'guaranteed beside best effort',
      { containers: [container('a', full, full), container('b')] },
      'Burstable',
    ],
    [
      'an init container counts',
      { containers: [container('a', full, full)], initContainers: [container('i')] },
      'Burstable',
    ],
    [
      'an ephemeral one does not',
      { containers: [container('a', full, full)], ephemeralContainers: [container('e', { memory: '1' })] },
      'Guaranteed',
    ],
    [
      'pod-level beats containers',
      { containers: [container('a')], resources: { requests: full, limits: full } },
      'Guaranteed',
    ],
    [
      'empty pod-level does not count',
      { containers: [container('a', full, full)], resources: {} },
      'Guaranteed',
    ],
    [
      'unsupported pod-level does not count',
      { containers: [container('a', full, full)], resources: { limits: { 'x.io/gpu': 1 } } },
      'Guaranteed',
    ],
    [
      'pod-level hugepages alone',
      { containers: [container('a', full, full)], resources: { limits: { 'hugepages-2Mi': '2Mi' } } },
      'BestEffort',
    ],
  ] as const) {
    test(name, () => expect(qosClassOf(pod(spec))).toBe(qosClass))
  }
  test('a recorded class is kept', () => {
    expect(qosClassOf(pod({ containers: [container('a')] }, { qosClass: 'Guaranteed' }))).toBe('Guaranteed')
  })
})

describe('requests and limits of the pod', () => {
  const app = container('app', { memory: '100Mi' }, { memory: '200Mi' })
  const sidecar = (name: string, memory: string) =>
    container(name, { memory }, { memory }, { restartPolicy: 'Always' })
  for (const [name, spec, requests, limits] of [
    ['sum', { containers: [app, { ...app, name: 'b' }] }, '200Mi', '400Mi'],
    [
      'a large init step wins',
      { containers: [app], initContainers: [container('i', { memory: '1Gi' })] },
      '1Gi',
      '200Mi',
    ],
    [
      'a small init step does not',
      { containers: [app], initContainers: [container('i', { memory: '1Mi' })] },
      '100Mi',
      '200Mi',
    ],
    ['sidecars add', { containers: [app], initContainers: [sidecar('s', '10Mi')] }, '110Mi', '210Mi'],
    [
      'an init step runs beside earlier sidecars only',
      {
        containers: [app],
        initContainers: [sidecar('s', '10Mi'), container('i', { memory: '512Mi' }), sidecar('t', '20Mi')],
      },
      '522Mi',
      '230Mi',
    ],
    ['overhead', { containers: [app], overhead: { memory: '8Mi' } }, '108Mi', '208Mi'],
    [
      'no limit stays none',
      { containers: [container('a', { memory: '1Mi' })], overhead: { memory: '8Mi' } },
      '9Mi',
      undefined,
    ],
    [
      'pod-level replaces, overhead on top',
      {
        containers: [app],
        resources: { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } },
        overhead: { memory: '1Gi' },
      },
      '2Gi',
      '3Gi',
    ],
  ] as const) {
    test(name, () => {
      expect(shown(podRequests(pod(spec)))['memory']).toBe(requests)
      expect(shown(podLimits(pod(spec)))['memory']).toBe(limits)
    })
  }
  test('half bytes add up before they are rounded', () => {
    const half = { memory: '500m' }
    expect(
      shown(podRequests(pod({ containers: [container('a', half), container('b', half)] })))['memory'],
    ).toBe('1')
  })
  test('a zero limit is no limit', () => {
    expect(hasEveryMemoryLimit(pod({ containers: [app, container('z', {}, { memory: 0 })] }))).toBe(false)
    expect(hasEveryMemoryLimit(pod({ containers: [app] }))).toBe(true)
    expect(hasEveryMemoryLimit(pod({ containers: [] }))).toBe(false)
  })
})

describe('defaults of the API server', () => {
  test('limits become missing requests, present ones stay', () => {
    const spec = {
      containers: [container('a', { cpu: '100m' }, full)],
      initContainers: [container('i', {}, full)],
    }
    const defaulted = applyPodDefaults(pod(spec))
    expect(shown(defaulted.containers[0]?.resources.requests ?? new Map())).toEqual({
      cpu: '100m',
      memory: '1Gi',
    })
    expect(shown(defaulted.initContainers[0]?.resources.requests ?? new Map())).toEqual(full)
  })
  test('pod level: the containers together, then the pod limit', () => {
    const limits = { cpu: '2', memory: '2Gi', 'hugepages-2Mi': '4Mi' }
    const spec = {
      containers: [container('a', { memory: '1Gi', 'hugepages-2Mi': '2Mi' })],
      resources: { limits },
    }
    const { resources } = applyPodDefaults(pod(spec))
    expect(shown(resources?.requests ?? new Map())).toEqual({
      cpu: '2',
      memory: '1Gi',
      'hugepages-2Mi': '4Mi',
    })
  })
  test('pod level without limits is left alone', () => {
    const spec = { containers: [container('a', { cpu: '1' })], resources: { requests: { memory: '1Gi' } } }
    expect(shown(applyPodDefaults(pod(spec)).resources?.requests ?? new Map())).toEqual({ memory: '1Gi' })
    expect(applyPodDefaults(pod({ containers: [container('a')] })).resources).toBeUndefined()
  })
})
