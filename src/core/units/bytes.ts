// Byte amounts: a branded bigint, so that a count of pages or milli-units cannot be passed by mistake.
// 'max' is a value of its own and never a huge number.

declare const bytesBrand: unique symbol
export type Bytes = bigint & { readonly [bytesBrand]: true }

export const KiB = 1024n
export const MiB = 1024n * KiB
export const GiB = 1024n * MiB

/** Checked where a number enters; negative amounts do not exist. */
export function bytes(n: bigint): Bytes {
  if (n < 0n) throw new Error(`negative byte amount ${n}`)
  return n as Bytes
}

/** The kernel keeps memory.* values in whole pages and drops the rest. */
export const floorToPage = (n: bigint, pageSize: bigint): Bytes => bytes((n / pageSize) * pageSize)
