// Byte amounts for eyes: three digits and a binary unit. Tables that must be exact print the number itself.

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const

/** 199229440n -> `190Mi`, 1610612736n -> `1.5Gi`, 512n -> `512` */
export function humanBytes(amount: bigint | number): string {
  let value = Number(amount)
  let unit = 0
  // 999.5 would print as four digits.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  const text = value.toFixed(digits)
  return `${digits === 0 ? text : text.replace(/\.?0+$/, '')}${units[unit] ?? ''}`
}
