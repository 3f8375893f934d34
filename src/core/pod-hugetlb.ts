// hugetlb limits of a pod: sizes that it asks for get their amount, every other size of the kernel nothing.
import type { Pod } from './pod.js'
import { podLimits } from './pod-resources.js'
import { parseQuantity, quantityValue } from './quantity.js'

const prefix = 'hugepages-'
const units: readonly (readonly [string, bigint])[] = [
  ['GB', 2n ** 30n],
  ['MB', 2n ** 20n],
  ['KB', 2n ** 10n],
]

/** `2Mi` -> `2MB`, as the kernel names its files. */
export function hugePageSizeName(size: string): string {
  const amount = quantityValue(parseQuantity(size))
  const [unit, bytes] = units.find(([, n]) => amount >= n && amount % n === 0n) ?? ['KB', 2n ** 10n]
  return `${amount / bytes}${unit}`
}

export function podHugetlb(pod: Pod, sizes: readonly string[]): Readonly<Record<string, string>> {
  if (sizes.length === 0) return {}
  const asked = new Map<string, bigint>()
  for (const [name, amount] of podLimits(pod))
    if (name.startsWith(prefix)) asked.set(hugePageSizeName(name.slice(prefix.length)), quantityValue(amount))
  return Object.fromEntries(
    sizes.flatMap((size) => {
      const text = (asked.get(size) ?? 0n).toString()
      return [
        [`hugetlb.${size}.max`, text],
        [`hugetlb.${size}.rsvd.max`, text],
      ]
    }),
  )
}
