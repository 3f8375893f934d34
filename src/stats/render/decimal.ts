// Whole numbers of a small unit as exact decimals, and as the whole numbers that CRI can carry.

/** 1_750_000_000n with 9 places -> `1.75`; nothing is rounded. */
export function formatDecimal(value: bigint, decimals: number): string {
  const text = value.toString()
  if (decimals === 0) return text
  if (value < 0n) return `-${formatDecimal(-value, decimals)}`
  const padded = text.length > decimals ? text : text.padStart(decimals + 1, '0')
  const point = padded.length - decimals
  let end = padded.length
  while (end > point && padded.charCodeAt(end - 1) === 48) end--
  return end === point ? padded.slice(0, point) : `${padded.slice(0, point)}.${padded.slice(point, end)}`
}

/** CRI's Metric.value is unsigned and whole: fractions are cut. */
export const criValue = (value: bigint, decimals: number): bigint => value / 10n ** BigInt(decimals)
