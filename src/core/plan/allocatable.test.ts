import { describe, expect, test } from 'vitest'
import { KeelsonError } from '../errors.js'
import { parseResourceList } from '../pod/parse-pod.js'
import { bytes, GiB, MiB } from '../units/bytes.js'
import { noResources } from '../units/resource-list.js'
import { allocatableMemory, checkReservations, parseEvictionThreshold } from './allocatable.js'

const node = {
  memoryCapacity: bytes(16n * GiB),
  kubeReserved: parseResourceList({ cpu: '500m', memory: '1Gi' }, 'kubeReserved'),
  systemReserved: parseResourceList({ memory: '512Mi' }, 'systemReserved'),
  memoryEviction: '100Mi',
}

test('two numbers', () => {
  const { forFormula, nodeStatus } = allocatableMemory({ ...node, hugePages: bytes(64n * MiB) })
  expect(forFormula).toBe(15_569_256_448n)
  expect(nodeStatus).toBe(15_569_256_448n - 164n * MiB)
})

test('neither falls below 0', () => {
  const all = allocatableMemory({ ...node, memoryCapacity: bytes(GiB) })
  expect([all.forFormula, all.nodeStatus]).toEqual([0n, 0n])
})

describe('eviction thresholds', () => {
  const capacity = bytes(17_179_869_184n)
  for (const [text, amount] of [
    [undefined, 0n],
    ['100Mi', 100n * MiB],
    ['0', 0n],
    ['0%', 0n],
    ['100%', 0n],
    ['5%', 858_993_472n],
    ['10%', 1_717_986_944n],
    ['.5%', BigInt(Math.trunc(17_179_869_184 * Math.fround(0.005)))],
  ] as const) {
    test(`${text}`, () => expect(parseEvictionThreshold(text, capacity)).toBe(amount))
  }
  for (const text of ['-1Mi', '101%', '-5%', '%', 'NaN%', '1e1%', '5 %', '']) {
    test(`refuses ${text}`, () =>
      expect(() => parseEvictionThreshold(text, capacity)).toThrowError(KeelsonError))
  }
})

test('reserving more than there is, with the eviction threshold in the sum', () => {
  expect(checkReservations(node)).toEqual([])
  const tight = { ...node, memoryCapacity: bytes(1536n * MiB) }
  expect(checkReservations(tight)).toHaveLength(1)
  expect(checkReservations({ ...tight, memoryEviction: undefined })).toEqual([])
  expect(checkReservations({ ...tight, systemReserved: noResources })).toEqual([])
  expect(checkReservations(tight)[0]?.message).toContain('1636Mi')
})
