// hugetlb limits of a pod: sizes that it asks for get their amount, every other size of the kernel nothing.
import type { PodResources } from '../pod/pod.js'
import { podLimits } from '../pod/resources.js'
import { parseQuantity, quantityValue } from '../units/quantity.js'

const prefix = 'hugepages-'
const units: readonly (readonly [string, bigint])[] = [
  ['GB', 2n ** 30n],
  ['MB', 2n ** 20n],
  ['KB', 2n ** 10n],
]

/** Every size that a processor of today has: 64 KB to 16 GB, as the kernel prints it. */
export const possiblePageSizes: readonly string[] = Array.from({ length: 19 }, (_, i) => {
  const kib = 64 * 2 ** i
  if (kib >= 1 << 20) return `${kib >> 20}GB`
  return kib >= 1 << 10 ? `${kib >> 10}MB` : `${kib}KB`
})

/** `2Mi` -> `2MB`, as the kernel names its files. */
export function hugePageSizeName(size: string): string {
  const amount = quantityValue(parseQuantity(size))
  const [unit, bytes] = units.find(([, n]) => amount >= n && amount % n === 0n) ?? ['KB', 2n ** 10n]
  return `${amount / bytes}${unit}`
}

/** Limit and, where the kernel keeps them (5.7), reservations: a page is refused when it is reserved, not when it is touched. */
const limitFiles: Readonly<Record<'v1' | 'v2', readonly string[]>> = {
  v1: ['limit_in_bytes', 'rsvd.limit_in_bytes'],
  v2: ['max', 'rsvd.max'],
}

/** Control file -> text, for the files that the pod's cgroup has. */
export function podHugetlb(
  pod: PodResources,
  version: 'v1' | 'v2',
  has: (file: string) => boolean,
): Readonly<Record<string, string>> {
  const asked = new Map<string, bigint>()
  for (const [name, amount] of podLimits(pod))
    if (name.startsWith(prefix)) asked.set(hugePageSizeName(name.slice(prefix.length)), quantityValue(amount))
  const files = possiblePageSizes.flatMap((size) =>
    limitFiles[version].map(
      (file) => [`hugetlb.${size}.${file}`, (asked.get(size) ?? 0n).toString()] as const,
    ),
  )
  return Object.fromEntries(files.filter(([file]) => has(file)))
}
