// Rates from two readings.
import { expect, test } from 'vitest'
import { usageNanoCores } from './cpu-rate.js'

test('cores in use need two readings of a counter that went forward', () => {
  const at = (timeNanos: bigint, usageNanos: bigint) => ({ timeNanos, usageNanos })
  expect(usageNanoCores(undefined, at(1n, 1n))).toBeUndefined()
  expect(usageNanoCores(at(0n, 5n), at(10n, 4n))).toBeUndefined()
  expect(usageNanoCores(at(10n, 5n), at(10n, 6n))).toBeUndefined()
  expect(usageNanoCores(at(0n, 0n), at(3n, 1n))).toBe(333_333_333n)
  expect(usageNanoCores(at(0n, 7n), at(10n, 7n))).toBe(0n)
})
