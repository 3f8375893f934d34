// Amounts as people read them, rounded: evidence, not input for anything.

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti'] as const

/** `199229440` -> `190Mi`, `199229441` -> `190Mi`, `1610612736` -> `1.5Gi` */
export function formatAmount(bytes: bigint | 'max'): string {
  if (bytes === 'max') return 'max'
  let amount = Number(bytes)
  let unit = 0
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024
    unit += 1
  }
  return `${Number(amount.toFixed(1))}${units[unit] ?? ''}`
}
