import { expect, test } from 'vitest'
import {
  linearWeight,
  logQuadraticWeight,
  quotaOfMilliCpu,
  sharesOfLinearWeight,
  sharesOfMilliCpu,
} from './cpu.js'

for (const [milli, shares, linear, logQuadratic, readBack, quota] of [
  [0n, 2n, 1n, 1n, 2n, 0n],
  [1n, 2n, 1n, 1n, 2n, 1000n],
  [9n, 9n, 1n, 3n, 2n, 1000n],
  [100n, 102n, 4n, 17n, 80n, 10_000n],
  [1000n, 1024n, 39n, 100n, 998n, 100_000n],
  [2500n, 2560n, 98n, 208n, 2545n, 250_000n],
  [256_000n, 262_144n, 10_000n, 10_000n, 262_144n, 25_600_000n],
  [999_999_999n, 262_144n, 10_000n, 10_000n, 262_144n, 99_999_999_900n],
] as const) {
  test(`${milli}m`, () => {
    const weight = linearWeight(shares)
    expect(sharesOfMilliCpu(milli)).toBe(shares)
    expect([weight, logQuadraticWeight(shares), sharesOfLinearWeight(weight)]).toEqual([
      linear,
      logQuadratic,
      readBack,
    ])
    expect(quotaOfMilliCpu(milli)).toBe(quota)
  })
}

test('zero shares are unset for the runtime; both curves never fall', () => {
  expect(logQuadraticWeight(0n)).toBeUndefined()
  for (let shares = 3n; shares < 262_200n; shares += 97n) {
    expect(linearWeight(shares) >= linearWeight(shares - 1n)).toBe(true)
    expect((logQuadraticWeight(shares) ?? 0n) >= (logQuadraticWeight(shares - 1n) ?? 0n)).toBe(true)
  }
})

test('quota in another period', () => {
  expect(quotaOfMilliCpu(500n, 10_000n)).toBe(5000n)
  expect(quotaOfMilliCpu(50n, 10_000n)).toBe(1000n)
})
