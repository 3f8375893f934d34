import { expect, test } from 'vitest'
import { parsePod } from '../../../core/pod/parse-pod.js'
import { rejectedUnderPressure, type Toleration } from './admission.js'

const bestEffort = parsePod({ metadata: { name: 'p', uid: '1' }, spec: { containers: [{ name: 'c' }] } })
const burstable = parsePod({
  metadata: { name: 'p', uid: '1' },
  spec: { containers: [{ name: 'c', resources: { requests: { memory: '1Mi' } } }] },
})
const critical = { ...bestEffort, priority: 2_000_000_000 }
const none = { memory: false, disk: false, pid: false }
const memory = { ...none, memory: true }

test('memory pressure keeps BestEffort pods out, other pressure all but critical ones', () => {
  expect(rejectedUnderPressure(bestEffort, [], none)).toBeUndefined()
  expect(rejectedUnderPressure(bestEffort, [], memory)).toEqual({
    reason: 'Evicted',
    message: 'The node had condition: [MemoryPressure]. ',
  })
  expect(rejectedUnderPressure(burstable, [], memory)).toBeUndefined()
  expect(rejectedUnderPressure(burstable, [], { ...memory, disk: true })?.message).toBe(
    'The node had condition: [MemoryPressure DiskPressure]. ',
  )
  expect(rejectedUnderPressure(critical, [], { memory: true, disk: true, pid: true })).toBeUndefined()
})

test('a toleration of the memory taint lets a BestEffort pod in, one of another taint does not', () => {
  const key = 'node.kubernetes.io/memory-pressure'
  const admits = (toleration: Toleration) =>
    rejectedUnderPressure(bestEffort, [toleration], memory) === undefined
  expect(admits({ key, operator: 'Exists' })).toBe(true)
  expect(admits({ operator: 'Exists' })).toBe(true)
  expect(admits({ key, effect: 'NoSchedule' })).toBe(true)
  expect(admits({ key, operator: 'Exists', effect: 'NoExecute' })).toBe(false)
  expect(admits({ key, value: 'x' })).toBe(false)
  expect(admits({ key: 'node.kubernetes.io/disk-pressure', operator: 'Exists' })).toBe(false)
})
