// The rules about wrong values on the stats of one container or pod, as the kubelet and the companion have them.
import type { MemoryUsage, NetworkUsage, SwapUsage, Usage } from '../usage.js'
import type { Repair } from './repairs.js'

const memoryFields = [
  'availableBytes',
  'usageBytes',
  'workingSetBytes',
  'rssBytes',
  'pageFaults',
  'majorPageFaults',
] as const
const swapFields = ['availableBytes', 'usageBytes'] as const

function repairPart<K extends string, T extends { readonly [F in K]: bigint | undefined }>(
  part: 'memory' | 'swap',
  given: T,
  fields: readonly K[],
  kernel: () => Usage | undefined,
  repair: Repair,
): T {
  const fixed = fields.flatMap((field): [K, bigint | undefined][] => {
    const value = given[field]
    if (value === undefined) return []
    const right = repair.value(`${part}.${field}`, value, () => {
      const known = kernel()
      const same: Partial<Record<string, unknown>> = { ...known?.[part] }
      return {
        same: typeof same[field] === 'bigint' ? same[field] : undefined,
        usageBytes: known?.memory?.usageBytes,
        swapBytes: known?.swap?.usageBytes,
      }
    })
    return right === value ? [] : [[field, right]]
  })
  return fixed.length === 0 ? given : { ...given, ...Object.fromEntries(fixed) }
}

/** `kernel` is called only when a value looks wrong. Undefined: no cgroup says anything about it. */
export function repairUsage(usage: Usage, kernel: () => Usage | undefined, repair: Repair): Usage {
  const { memory, swap } = usage
  const fixedMemory: MemoryUsage | undefined =
    memory && repairPart('memory', memory, memoryFields, kernel, repair)
  const fixedSwap: SwapUsage | undefined = swap && repairPart('swap', swap, swapFields, kernel, repair)
  return fixedMemory === memory && fixedSwap === swap
    ? usage
    : { ...usage, memory: fixedMemory, swap: fixedSwap }
}

const traffic = ({ defaultInterface, interfaces }: NetworkUsage): ReadonlyMap<string, bigint> =>
  new Map(
    [...(defaultInterface === undefined ? [] : [defaultInterface]), ...interfaces].flatMap((i) =>
      i.rxBytes === undefined ? [] : [[i.name, i.rxBytes] as const],
    ),
  )

/** `own`: the pod's network namespace. Undefined: it cannot be read. */
export function repairNetwork(
  given: NetworkUsage | undefined,
  own: NetworkUsage | undefined,
  repair: Repair,
): NetworkUsage | undefined {
  if (given === undefined || own === undefined) return given
  if (given.defaultInterface?.name === 'lo' && repair.hasDefect('loopback-as-default')) {
    repair.note('network', 'loopback-as-default')
    return own
  }
  if (!repair.isOtherNamespace(traffic(given), traffic(own))) return given
  repair.note('network', 'node-network-counted')
  return own
}
