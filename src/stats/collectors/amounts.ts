// Amounts in control files: one number, or `max`. Page-rounded maxima of v1 count as no limit, like `max` itself.
import { parseCount, parseCountOrMax } from '../../core/kernel-text/digits.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { CollectContext } from './collector.js'

/** Above this an amount means "no limit": v1 prints LONG_MAX rounded down to a page. */
const LARGEST_LIMIT = 2n ** 62n

export function readCount(
  { cgroups }: Pick<CollectContext, 'cgroups'>,
  path: CgroupPath,
  file: string,
): bigint | undefined {
  const text = cgroups.read(path, file)
  return text === undefined ? undefined : parseCount(text)
}

export type Limit = bigint | 'unlimited'

/** Undefined: no such file. */
export function readLimit(
  { cgroups }: Pick<CollectContext, 'cgroups'>,
  path: CgroupPath,
  file: string,
): Limit | undefined {
  const text = cgroups.read(path, file)
  const amount = text === undefined ? undefined : parseCountOrMax(text)
  if (amount === 'max') return 'unlimited'
  return amount !== undefined && amount > LARGEST_LIMIT ? 'unlimited' : amount
}

/** As the metrics of limits show it: 0 means none. */
export const limitOrZero = (limit: Limit | undefined): bigint | undefined =>
  limit === 'unlimited' ? 0n : limit

/** Unsigned subtraction that never wraps. */
export const minus = (a: bigint, b: bigint): bigint => (a > b ? a - b : 0n)
