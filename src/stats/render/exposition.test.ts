// Exact decimals, and Prometheus text.
import { describe, expect, test } from 'vitest'
import { createExposition, criValue, formatDecimal, formatTimestamp } from './exposition.js'
import { decodePieces } from './text-bytes.js'

describe('decimals', () => {
  test.each([
    [0n, 9, '0', 0n],
    [1n, 9, '0.000000001', 0n],
    [1_750_000_000n, 9, '1.75', 1n],
    [999_999_999n, 9, '0.999999999', 0n],
    [10_000_000_000n, 9, '10', 10n],
    [18_446_744_073_709_551_615n, 9, '18446744073.709551615', 18_446_744_073n],
    [18_446_744_073_709_551_615n, 0, '18446744073709551615', 18_446_744_073_709_551_615n],
    [-1_500_000_000n, 9, '-1.5', -1n],
  ])('%s with %i places', (value, places, exact, whole) => {
    expect(formatDecimal(value, places)).toBe(exact)
    expect(criValue(value, places)).toBe(whole)
  })
})

test('exposition: families together, help escaped, times in ms, none for 0', () => {
  const out = createExposition()
  const family = { name: 'b_total', type: 'counter', help: 'one\ntwo \\ three', decimals: 9 } as const
  out.add(family, '{x="1"}', 1n, formatTimestamp(1_790_000_000_999_999_999n))
  out.add(
    { ...family, name: 'a', type: 'gauge', help: 'A.', decimals: 0 },
    '',
    2n ** 64n,
    formatTimestamp(0n),
  )
  out.add(family, '{x="2"}', 0n, '')
  expect(decodePieces(out.pieces())).toBe(
    '# HELP a A.\n# TYPE a gauge\na 18446744073709551616\n' +
      '# HELP b_total one\\ntwo \\\\ three\n# TYPE b_total counter\nb_total{x="1"} 0.000000001 1790000000999\nb_total{x="2"} 0\n',
  )
})
