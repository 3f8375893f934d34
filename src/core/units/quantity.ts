// Kubernetes quantities, exact: a bigint count of 10^-9 units and the notation it was written in.
// Reads and prints the notation; what a quantity means (bytes, cores) is for the caller to say.
import { keelsonError } from '../errors.js'

export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent'

export interface Quantity {
  readonly nanos: bigint
  readonly format: QuantityFormat
}

const perUnit = 1_000_000_000n
const perMilli = 1_000_000n
const maxInt64 = 2n ** 63n - 1n

const binarySuffixes: ReadonlyMap<string, bigint> = new Map([
  ['Ki', 10n],
  ['Mi', 20n],
  ['Gi', 30n],
  ['Ti', 40n],
  ['Pi', 50n],
  ['Ei', 60n],
])

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])

const decimalByExponent = new Map([...decimalSuffixes].map(([suffix, exponent]) => [exponent, suffix]))
const binaryByFactors = ['', ...binarySuffixes.keys()]

const grammar = /^([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))([A-Za-z]*|[eE][+-]?[0-9]+)$/
const exponentSuffix = /^[eE][+-]?[0-9]+$/

// Longer texts and larger exponents name no amount a machine has; without a bound they cost memory.
const maxLength = 256
const maxExponent = 400

export const zeroQuantity: Quantity = { nanos: 0n, format: 'DecimalSI' }

/** `0.1Ki` is 102.4; nothing is trimmed, and anything finer than 10^-9 moves away from zero to that step. */
export function parseQuantity(text: string): Quantity {
  if (text.length > maxLength) throw invalid(text, `is longer than ${maxLength} characters`)
  const match = grammar.exec(text)
  if (match === null) throw invalid(text, 'is not a number with an optional suffix')
  const [, sign, whole = '', wholeFraction = '', bareFraction = '', suffix = ''] = match
  const fraction = wholeFraction + bareFraction
  const digits = BigInt(whole + fraction)
  const magnitude = scaleBySuffix(text, digits, fraction.length, suffix)
  return sign === '-' ? { ...magnitude, nanos: -magnitude.nanos } : magnitude
}

function scaleBySuffix(text: string, digits: bigint, fractionLength: number, suffix: string): Quantity {
  const shift = binarySuffixes.get(suffix)
  if (shift !== undefined) return scaleBinary(digits, fractionLength, shift)
  const decimal = decimalSuffixes.get(suffix)
  if (decimal !== undefined) {
    return { nanos: scaleDecimal(digits, decimal - fractionLength + 9), format: 'DecimalSI' }
  }
  if (!exponentSuffix.test(suffix)) throw invalid(text, `has the unknown suffix ${JSON.stringify(suffix)}`)
  const exponent = Number(suffix.slice(1))
  if (exponent > maxExponent && digits !== 0n) throw invalid(text, `has an exponent above ${maxExponent}`)
  return { nanos: scaleDecimal(digits, exponent - fractionLength + 9), format: 'DecimalExponent' }
}

function scaleBinary(digits: bigint, fractionLength: number, shift: bigint): Quantity {
  const nanos = divideUp((digits << shift) * perUnit, 10n ** BigInt(fractionLength))
  const cap = maxInt64 * perUnit
  // Upstream keeps binary values inside int64, and shows what is below one unit in decimal notation.
  if (nanos > cap) return { nanos: cap, format: 'BinarySI' }
  return { nanos, format: nanos > 0n && nanos < perUnit ? 'DecimalSI' : 'BinarySI' }
}

function scaleDecimal(digits: bigint, power: number): bigint {
  if (digits === 0n) return 0n
  if (power >= 0) return digits * 10n ** BigInt(power)
  return power < -maxLength - 9 ? 1n : divideUp(digits, 10n ** BigInt(-power))
}

const divideUp = (n: bigint, by: bigint): bigint => (n + by - 1n) / by

const awayFromZero = (n: bigint, by: bigint): bigint => (n < 0n ? -divideUp(-n, by) : divideUp(n, by))

const invalid = (text: string, what: string) =>
  keelsonError(
    'quantity.invalid',
    `quantity ${JSON.stringify(text.slice(0, 64))} ${what}; write for example 500m, 2, 1.5Gi or 1e3`,
    { text: text.slice(0, 64) },
  )

/** As Kubernetes prints it: the largest suffix that leaves a whole number. */
export function formatQuantity(q: Quantity): string {
  if (q.nanos === 0n) return '0'
  if (q.format === 'BinarySI' && q.nanos % perUnit === 0n) {
    const units = q.nanos / perUnit
    if (units <= -1024n || units >= 1024n) return formatBinary(units)
  }
  return formatDecimal(q.nanos, q.format === 'DecimalExponent')
}

function formatBinary(units: bigint): string {
  let rest = units
  let factors = 0
  while (rest % 1024n === 0n && factors < binaryByFactors.length - 1) {
    rest /= 1024n
    factors += 1
  }
  return `${rest}${binaryByFactors[factors]}`
}

function formatDecimal(nanos: bigint, asExponent: boolean): string {
  let rest = nanos
  let exponent = -9
  while (rest % 1000n === 0n && (asExponent || exponent < 18)) {
    rest /= 1000n
    exponent += 3
  }
  if (asExponent) return exponent === 0 ? `${rest}` : `${rest}e${exponent}`
  return `${rest}${decimalByExponent.get(exponent)}`
}

/** A zero on the left takes over the notation of the right, so that sums print like their parts. */
export const addQuantity = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos + b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
})

export const subtractQuantity = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos - b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
})

/** By number, not by text: `1024Mi` equals `1Gi`. */
export const compareQuantity = (a: Quantity, b: Quantity): -1 | 0 | 1 =>
  a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0

/** Whole units, rounded away from zero: `1500m` of memory is 2 bytes. */
export const quantityValue = (q: Quantity): bigint => awayFromZero(q.nanos, perUnit)

/** Whole thousandths, rounded away from zero. */
export const quantityMilliValue = (q: Quantity): bigint => awayFromZero(q.nanos, perMilli)

export const quantityOfBytes = (n: bigint): Quantity => ({ nanos: n * perUnit, format: 'BinarySI' })
