import { describe, expect, test } from 'vitest'
import { KeelsonError } from '../errors.js'
import { parsePod } from './parse-pod.js'
import { isCriticalPod, isNodeCriticalPod, isTerminated } from './pod.js'

const withMemory = (memory: unknown) => ({
  spec: { containers: [{ name: 'a', resources: { requests: { memory } } }] },
})

test('defaults of an almost empty pod', () => {
  const pod = parsePod({ spec: { containers: [{ name: 'a' }], initContainers: null, resources: null } })
  expect(pod).toMatchObject({ name: '', namespace: 'default', uid: '', resources: undefined, phase: '' })
})

test('sidecars are told from init containers', () => {
  const initContainers = [{ name: 'a', restartPolicy: 'Always' }, { name: 'b' }]
  const pod = parsePod({ spec: { initContainers, containers: [{ name: 'c', restartPolicy: 'Always' }] } })
  expect([...pod.initContainers, ...pod.containers].map((c) => c.type)).toEqual(['sidecar', 'init', 'app'])
})

test('numbers and outer blanks are quantities', () => {
  for (const memory of [128, 128n, '128', ' 128 ', '0.128k']) {
    expect(parsePod(withMemory(memory)).containers[0]?.resources.requests.get('memory')?.nanos).toBe(
      128n * 10n ** 9n,
    )
  }
})

describe('refuses, naming the path', () => {
  for (const [name, input, path] of [
    ['nothing', null, 'pod'],
    ['a list', [], 'pod'],
    ['a text', 'pod', 'pod'],
    ['a spec that is a list', { spec: [] }, 'spec'],
    ['containers as an object', { spec: { containers: {} } }, 'spec.containers'],
    ['a container without name', { spec: { containers: [{}] } }, 'spec.containers[0].name'],
    ['a name twice', { spec: { containers: [{ name: 'a' }], initContainers: [{ name: 'a' }] } }, 'spec'],
    ['a negative amount', withMemory('-1Mi'), 'spec.containers[0].resources.requests.memory'],
    ['an absurd amount', withMemory('10E'), 'spec.containers[0].resources.requests.memory'],
    ['a malformed amount', withMemory('1KB'), 'spec.containers[0].resources.requests.memory'],
    ['NaN', withMemory(Number.NaN), 'spec.containers[0].resources.requests.memory'],
    ['a boolean', withMemory(true), 'spec.containers[0].resources.requests.memory'],
    ['an unknown class', { status: { qosClass: 'Best' } }, 'status.qosClass'],
    ['a fractional priority', { spec: { priority: 1.5 } }, 'spec.priority'],
    ['a numeric uid', { metadata: { uid: 1 } }, 'metadata.uid'],
  ] as const) {
    test(name, () => {
      try {
        parsePod(input)
        expect.unreachable()
      } catch (e) {
        expect(e).toBeInstanceOf(KeelsonError)
        expect(e).toMatchObject({ code: 'pod.invalid', details: { path } })
      }
    })
  }
})

test('critical and terminated pods', () => {
  const of = (spec: object, annotations: object = {}, phase = '') =>
    parsePod({ metadata: { annotations }, spec, status: { phase } })
  const nodeCritical = { priorityClassName: 'system-node-critical' }
  expect(isCriticalPod(of({ priority: 2_000_000_000 }))).toBe(true)
  expect(isCriticalPod(of({ priority: 1_999_999_999 }))).toBe(false)
  expect(isCriticalPod(of({}, { 'kubernetes.io/config.source': 'file' }))).toBe(true)
  expect(isCriticalPod(of({}, { 'kubernetes.io/config.source': 'api' }))).toBe(false)
  expect(isNodeCriticalPod(of(nodeCritical))).toBe(false)
  expect(isNodeCriticalPod(of(nodeCritical, { 'kubernetes.io/config.mirror': 'x' }))).toBe(true)
  expect(isTerminated(of({}, {}, 'Failed'))).toBe(true)
  expect(isTerminated(of({}, {}, 'Running'))).toBe(false)
})
