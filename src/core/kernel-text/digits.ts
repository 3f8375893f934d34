// Decimal numbers in kernel text, parsed from bytes without a string in between: this is the hot path of every sweep.
// Exact at any size. Malformed text is undefined, never a wrong number.

const ZERO = 48
const MINUS = 45
const SPACE = 32
const NEWLINE = 10
/** 10^15 - 1 is below 2^53: so many digits are exact in a double. */
const EXACT_DIGITS = 15

/** Digits of bytes[start, end). */
export function parseDigits(text: Uint8Array, start: number, end: number): bigint | undefined {
  const length = end - start
  if (length <= 0) return undefined
  if (length > EXACT_DIGITS) return parseLongDigits(text, start, end)
  let n = 0
  for (let i = start; i < end; i++) {
    const digit = (text[i] as number) - ZERO
    if (digit < 0 || digit > 9) return undefined
    n = n * 10 + digit
  }
  return BigInt(n)
}

function parseLongDigits(text: Uint8Array, start: number, end: number): bigint | undefined {
  const split = end - EXACT_DIGITS
  const high = parseDigits(text, start, split)
  const low = parseDigits(text, split, end)
  return high === undefined || low === undefined ? undefined : high * 10n ** BigInt(EXACT_DIGITS) + low
}

/** End of the text without trailing newlines and blanks. */
export function trimmedEnd(text: Uint8Array): number {
  let end = text.length
  while (end > 0 && (text[end - 1] === NEWLINE || text[end - 1] === SPACE)) end--
  return end
}

/** `123\n` -> 123n */
export const parseCount = (text: Uint8Array): bigint | undefined => parseDigits(text, 0, trimmedEnd(text))

/** `-1\n` -> -1n, as in v1's cpu.cfs_quota_us. */
export function parseSigned(text: Uint8Array): bigint | undefined {
  const end = trimmedEnd(text)
  if (text[0] !== MINUS) return parseDigits(text, 0, end)
  const n = parseDigits(text, 1, end)
  return n === undefined ? undefined : -n
}

const isMax = (text: Uint8Array, start: number, end: number): boolean =>
  end - start === 3 && text[start] === 109 && text[start + 1] === 97 && text[start + 2] === 120

export const parseDigitsOrMax = (text: Uint8Array, start: number, end: number): bigint | 'max' | undefined =>
  isMax(text, start, end) ? 'max' : parseDigits(text, start, end)

/** `max\n` -> 'max', `4096\n` -> 4096n */
export const parseCountOrMax = (text: Uint8Array): bigint | 'max' | undefined =>
  parseDigitsOrMax(text, 0, trimmedEnd(text))
