// How old the sign of life of a node is.
import { parseTime } from '../units/rfc3339.js'
import type { Lease } from './objects.js'

/** Undefined: the Lease was never renewed. Below 0: the clock of the node is ahead. */
export function leaseAgeMs({ spec }: Lease, nowMs: number): number | undefined {
  const renewed = parseTime(spec?.renewTime ?? '')
  return renewed === undefined ? undefined : nowMs - Number(renewed / 1_000_000n)
}
