// Which value of a runtime is wrong, judged from the value and from what the kernel has. Names are those of metric families,
// or fields of stats as `memory.pageFaults`.
import type { DefectName } from './defects.js'

/** One cgroup as the kernel has it. */
export interface KernelValues {
  /** The value in question. Undefined: the kernel cannot give it. */
  readonly same: bigint | undefined
  readonly usageBytes?: bigint | undefined
  readonly swapBytes?: bigint | undefined
  /** Undefined or 0: no limit. */
  readonly limitBytes?: bigint | undefined
}

export type HasDefect = (defect: DefectName) => boolean

interface ValueRule {
  readonly reason: DefectName
  /** Decided without the kernel, so that most values cost no reading of files. */
  suspects(name: string, value: bigint, hasDefect: HasDefect): boolean
  isWrong(value: bigint, kernel: KernelValues): boolean
}

/** More than any machine has: 2^64-1, or the largest signed number less what is in use. */
const noAmount = 2n ** 62n

const unlimitedAsAmount: ValueRule = {
  reason: 'unlimited-as-amount',
  suspects: (_, value) => value >= noAmount,
  isWrong: () => true,
}

const limitAsPeak: ValueRule = {
  reason: 'limit-as-peak',
  suspects: (name, _, hasDefect) => name === 'container_memory_max_usage_bytes' && hasDefect('limit-as-peak'),
  isWrong: (value, { same, limitBytes }) => value === limitBytes && same !== undefined && same < value,
}

const swapNames: ReadonlySet<string> = new Set(['swap.usageBytes', 'container_memory_swap'])
/** Memory may change this much between two readings. */
const slack = (amount: bigint): bigint => (amount / 10n > 262_144n ? amount / 10n : 262_144n)

const memoryPlusSwap: ValueRule = {
  reason: 'memory-plus-swap',
  suspects: (name, value, hasDefect) => swapNames.has(name) && value > 0n && hasDefect('memory-plus-swap'),
  isWrong(value, { usageBytes: usage, swapBytes: swap }) {
    if (usage === undefined || swap === undefined || value <= swap + usage / 2n) return false
    const sum = usage + swap
    return (value > sum ? value - sum : sum - value) <= slack(sum)
  },
}

const faultNames: ReadonlySet<string> = new Set([
  'memory.pageFaults',
  'memory.majorPageFaults',
  'container_memory_failures_total',
])

/** A process cannot start without page faults, but it can without major ones: of those 0 is wrong only where it is known to be. */
const zeroPageFaults: ValueRule = {
  reason: 'zero-page-faults',
  suspects: (name, value, hasDefect) =>
    value === 0n && faultNames.has(name) && (name === 'memory.pageFaults' || hasDefect('zero-page-faults')),
  isWrong: (_, { same }) => same !== undefined && same > 0n,
}

const specNames: ReadonlySet<string> = new Set(['container_spec_cpu_period', 'container_spec_cpu_shares'])

/** The kernel has a default where nothing was asked for, and never 0. */
const zeroWhenUnset: ValueRule = {
  reason: 'zero-when-unset',
  suspects: (name, value) => value === 0n && specNames.has(name),
  isWrong: (_, { same }) => same !== undefined && same > 0n,
}

const valueRules: readonly ValueRule[] = [
  unlimitedAsAmount,
  limitAsPeak,
  memoryPlusSwap,
  zeroPageFaults,
  zeroWhenUnset,
]

interface Verdict {
  readonly reason: DefectName
  /** Undefined: to be left out. */
  readonly value: bigint | undefined
}

/** Undefined: the value is right as far as can be told. `kernel` is called only for a suspicious one. */
export function judgeValue(
  name: string,
  value: bigint,
  kernel: () => KernelValues,
  hasDefect: HasDefect,
): Verdict | undefined {
  const suspected = valueRules.filter((rule) => rule.suspects(name, value, hasDefect))
  if (suspected.length === 0) return undefined
  const known = kernel()
  const rule = suspected.find((r) => r.isWrong(value, known))
  if (rule === undefined) return undefined
  const { same } = known
  return { reason: rule.reason, value: same !== undefined && same < noAmount ? same : undefined }
}
