import { expect, test } from 'vitest'
import { bytes, GiB, MiB } from '../units/bytes.js'
import { evictionConflicts } from './eviction-conflicts.js'

const node = {
  memoryCapacity: bytes(4n * GiB),
  evictionThreshold: bytes(100n * MiB),
  protectedBytes: 0n,
  highs: [],
}

test('room for both: nothing to report', () => {
  const highs = [{ name: 'app', high: 3n * GiB }]
  expect(evictionConflicts({ ...node, protectedBytes: 3n * GiB, highs })).toEqual([])
})

test('protected memory that reaches the threshold, and memory.high above it', () => {
  const found = evictionConflicts({
    ...node,
    protectedBytes: 3n * GiB + 1000n * MiB,
    highs: [
      { name: 'low', high: GiB },
      { name: 'app', high: 3996n * MiB },
    ],
  })
  expect(found.map(({ message }) => message)).toEqual([
    'memory.min protects 4072Mi of pods, and eviction begins when 3996Mi are in use: pods within their requests can cause evictions that reclaim cannot prevent',
    'memory.high of app (3996Mi) is above 3996Mi, where eviction begins: the container is evicted before it is throttled',
  ])
})

test('without a threshold there is nothing to contradict', () => {
  expect(evictionConflicts({ ...node, evictionThreshold: bytes(0n), protectedBytes: 9n * GiB })).toEqual([])
})
