// Does a control file hold what was written? The kernel keeps memory amounts in whole pages and calls the largest ones
// `max`, so a plain comparison never settles.

const memoryFile = /^memory\.(min|low|high|max|swap\.(high|max)|zswap\.max)$/
const hugetlbFile = /^hugetlb\.(\d+)(KB|MB|GB)(\.rsvd)?\.max$/
const hugetlbUnits: Readonly<Record<string, bigint>> = { KB: 2n ** 10n, MB: 2n ** 20n, GB: 2n ** 30n }

/** Amounts are kept in multiples of this: a page, or the huge page that the file is about. Undefined: a plain number. */
function unitOf(file: string, pageSize: bigint): bigint | undefined {
  if (memoryFile.test(file)) return pageSize
  const [, size, unit] = hugetlbFile.exec(file) ?? []
  return size === undefined || unit === undefined ? undefined : BigInt(size) * (hugetlbUnits[unit] ?? 1n)
}

/** The kernel counts pages up to LONG_MAX / PAGE_SIZE; from there on the file reads `max`. */
const readsAsMaxFrom = (unit: bigint): bigint => ((2n ** 63n - 1n) / unit) * unit

/** How the kernel prints a value after it was written to a v2 control file. */
export function settledValue(file: string, written: string, pageSize: bigint): string {
  const value = written.trim()
  if (file === 'cpu.max') return settledCpuMax(value)
  if (!/^\d+$/.test(value)) return value
  const n = BigInt(value)
  const unit = unitOf(file, pageSize)
  if (unit === undefined) return n.toString()
  return n >= readsAsMaxFrom(unit) ? 'max' : ((n / unit) * unit).toString()
}

/** A quota alone keeps the period, which is 100 ms unless it was changed. */
function settledCpuMax(value: string): string {
  const [quota = '', period] = value.split(/\s+/)
  return `${quota} ${period ?? '100000'}`
}

/** `100000000` written and `99999744` read agree for memory.high with 4 KiB pages. */
export const isSettled = (file: string, written: string, readBack: string, pageSize: bigint): boolean =>
  settledValue(file, written, pageSize) === settledValue(file, readBack, pageSize)
