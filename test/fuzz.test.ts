// Ten thousand inputs through each parser with every test run; `npm run fuzz` does a million.
import { describe, expect, test } from 'vitest'
import { KeelsonError } from '../src/core/errors.js'
import { fuzz } from './fuzz/fuzz.js'
import { createRandom } from './fuzz/random.js'
import { targets } from './fuzz/targets/index.js'
import type { FuzzTarget } from './fuzz/types.js'

const options = { runs: 10_000, seed: 20_260_801, inputBudgetMs: 5000 }

describe('fuzz', () => {
  for (const target of targets) {
    test(`${target.name}: ${options.runs} inputs`, { timeout: 400_000 }, () => {
      const result = fuzz(target, options)
      expect(result.finding).toBeUndefined()
      expect(result.runs).toBe(options.runs)
      // A generator that only makes rubbish, or only good input, tests half of a parser.
      expect(result.accepted).toBeGreaterThan(100)
    })
  }
})

describe('the fuzzer', () => {
  const target = (run: FuzzTarget['run']): FuzzTarget => ({ name: 't', generate: (r) => r.below(100), run })
  test('reports a crash with seed and number, and passes over typed refusals', () => {
    const crash = fuzz(
      target((n) => {
        if (n === 7) throw new TypeError('seven')
      }),
      { runs: 1000, seed: 1, inputBudgetMs: 1000 },
    )
    expect(crash.finding).toMatch(/seed 1, input \d+: TypeError: seven/)
    const refuse = target(() => {
      throw new KeelsonError('quantity.invalid', 'no')
    })
    expect(fuzz(refuse, { runs: 10, seed: 1, inputBudgetMs: 1000 })).toMatchObject({
      refused: 10,
      accepted: 0,
    })
  })
  test('reports an input that takes too long', () => {
    const slow = target(() => {
      const end = performance.now() + 5
      while (performance.now() < end);
    })
    expect(fuzz(slow, { runs: 10, seed: 1, inputBudgetMs: 1 }).finding).toMatch(/took \d+ ms/)
  })
  test('makes the same inputs from the same seed', () => {
    for (const { generate } of targets) expect(generate(createRandom(5))).toEqual(generate(createRandom(5)))
  })
})
