import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { formatGoDuration, parseGoDuration } from './go-duration.js'

for (const [text, nanos] of [
  ['2m0s', 120_000_000_000n],
  ['100ms', 100_000_000n],
  ['1.5h', 5_400_000_000_000n],
  ['.5s', 500_000_000n],
  ['-1m', -60_000_000_000n],
  ['0', 0n],
  ['1h2m3s4ms5us6ns', 3_723_004_005_006n],
  ['1µs', 1_000n],
  ['', undefined],
  ['30', undefined],
  ['s', undefined],
  ['.s', undefined],
  ['1 s', undefined],
  ['1d', undefined],
  ['1s2', undefined],
  ['9999999999h', undefined],
  ['1'.repeat(500), undefined],
] as const) {
  test(`${text.slice(0, 20)} -> ${nanos}`, () => expect(parseGoDuration(text)).toBe(nanos))
}

for (const [nanos, text] of [
  [0n, '0s'],
  [120_000_000_000n, '2m0s'],
  [14_400_000_000_000n, '4h0m0s'],
  [100_000_000n, '100ms'],
  [1_500_000n, '1.5ms'],
  [5n, '5ns'],
] as const) {
  test(`${nanos} -> ${text}`, () => expect(formatGoDuration(nanos)).toBe(text))
}

test('format and parse are inverse', () => {
  assertProperty(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (n) => {
      expect(parseGoDuration(formatGoDuration(n))).toBe(n)
    }),
  )
})
