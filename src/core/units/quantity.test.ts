import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../test/support/property.js'
import { KeelsonError } from '../errors.js'
import {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityMilliValue,
  quantityOfBytes,
  quantityValue,
  subtractQuantity,
} from './quantity.js'

describe('parse: value, thousandths and canonical text', () => {
  for (const [text, value, milli, printed] of [
    ['0', 0n, 0n, '0'],
    ['-0', 0n, 0n, '0'],
    ['1', 1n, 1000n, '1'],
    ['+1', 1n, 1000n, '1'],
    ['007', 7n, 7000n, '7'],
    ['.5', 1n, 500n, '500m'],
    ['1.', 1n, 1000n, '1'],
    ['1.5', 2n, 1500n, '1500m'],
    ['1500m', 2n, 1500n, '1500m'],
    ['2000m', 2n, 2000n, '2'],
    ['100m', 1n, 100n, '100m'],
    ['1n', 1n, 1n, '1n'],
    ['1500u', 1n, 2n, '1500u'],
    ['0.1Ki', 103n, 102_400n, '102400m'],
    ['1Ki', 1024n, 1_024_000n, '1Ki'],
    ['1024Ki', 1_048_576n, 1_048_576_000n, '1Mi'],
    ['1.5Gi', 1_610_612_736n, 1_610_612_736_000n, '1536Mi'],
    ['0.5Ki', 512n, 512_000n, '512'],
    ['123Mi', 128_974_848n, 128_974_848_000n, '123Mi'],
    ['129M', 129_000_000n, 129_000_000_000n, '129M'],
    ['1000k', 1_000_000n, 1_000_000_000n, '1M'],
    ['129e6', 129_000_000n, 129_000_000_000n, '129e6'],
    ['1E', 10n ** 18n, 10n ** 21n, '1E'],
    ['1E3', 1000n, 1_000_000n, '1e3'],
    ['1e+3', 1000n, 1_000_000n, '1e3'],
    ['1e-3', 1n, 1n, '1e-3'],
    ['1e0', 1n, 1000n, '1'],
    ['1000E', 10n ** 21n, 10n ** 24n, '1000E'],
    ['8Ei', 2n ** 63n - 1n, (2n ** 63n - 1n) * 1000n, '9223372036854775807'],
    ['-8Ei', -(2n ** 63n - 1n), -(2n ** 63n - 1n) * 1000n, '-9223372036854775807'],
    ['7Ei', 7n * 2n ** 60n, 7000n * 2n ** 60n, '7Ei'],
    ['-1.5', -2n, -1500n, '-1500m'],
    ['0.0000000001', 1n, 1n, '1n'],
    ['-0.0000000001', -1n, -1n, '-1n'],
    ['1e-300', 1n, 1n, '1e-9'],
    ['0e9999', 0n, 0n, '0'],
  ] as const) {
    test(text, () => {
      const q = parseQuantity(text)
      expect([quantityValue(q), quantityMilliValue(q), formatQuantity(q)]).toEqual([value, milli, printed])
    })
  }
})

describe('refuses', () => {
  const bad = [
    '',
    ' ',
    '1 ',
    ' 1',
    '1 Ki',
    '1K',
    '1ki',
    '1Kb',
    '5e',
    '5e+',
    '1e3.5',
    '+',
    '-',
    '.',
    '+.',
    '--1',
  ]
  for (const text of [
    ...bad,
    '1Zi',
    '1mi',
    '1e1e1',
    'Ki',
    'NaN',
    'Infinity',
    '0x10',
    '1_000',
    '1,5',
    '1\n',
    '١',
  ]) {
    test(JSON.stringify(text), () => {
      expect(() => parseQuantity(text)).toThrowError(KeelsonError)
    })
  }
  test('an absurd exponent and an absurd length, at once', () => {
    expect(() => parseQuantity('1e999999999')).toThrowError(/exponent above/)
    expect(() => parseQuantity('9'.repeat(5000))).toThrowError(/longer than/)
  })
})

test('sums are exact and rounded once', () => {
  const half = parseQuantity('500m')
  expect(quantityValue(addQuantity(half, half))).toBe(1n)
  expect(formatQuantity(addQuantity(parseQuantity('0'), parseQuantity('1Gi')))).toBe('1Gi')
  expect(formatQuantity(subtractQuantity(parseQuantity('1Gi'), parseQuantity('1Mi')))).toBe('1023Mi')
})

test('comparison is by number', () => {
  expect(compareQuantity(parseQuantity('1024Mi'), parseQuantity('1Gi'))).toBe(0)
  expect(compareQuantity(parseQuantity('1000m'), parseQuantity('1'))).toBe(0)
  expect(compareQuantity(parseQuantity('1G'), parseQuantity('1Gi'))).toBe(-1)
  expect(compareQuantity(parseQuantity('2'), parseQuantity('1999m'))).toBe(1)
})

const anyQuantity: fc.Arbitrary<Quantity> = fc.record({
  nanos: fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }),
  format: fc.constantFrom('BinarySI', 'DecimalSI', 'DecimalExponent'),
})

const anyText = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.stringMatching(/^[0-9]{1,18}(\.[0-9]{0,12})?$/),
    fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'E-4',
    ),
  )
  .map((parts) => parts.join(''))

describe('round trips', () => {
  test('any amount survives printing and reading', () => {
    assertProperty(
      fc.property(anyQuantity, (q) => parseQuantity(formatQuantity(q)).nanos === q.nanos),
      { numRuns: 5000 },
    )
  })
  test('canonical text of a text is stable as an amount', () => {
    assertProperty(
      fc.property(anyText, (text) => {
        const q = parseQuantity(text)
        const again = parseQuantity(formatQuantity(q))
        expect(again.nanos).toBe(q.nanos)
        expect(formatQuantity({ ...again, format: q.format })).toBe(formatQuantity(q))
      }),
      { numRuns: 5000 },
    )
  })
  test('bytes', () => {
    assertProperty(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n }), (n) => quantityValue(quantityOfBytes(n)) === n),
    )
  })
})
