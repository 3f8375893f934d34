// Control file values as systemd unit properties. Values that systemd has no property for (hugetlb, memory.oom.group)
// are left out: they live in the file only.
import { keelsonError } from '../errors.js'

export type SystemdValue =
  | { readonly type: 't'; readonly value: bigint }
  | { readonly type: 'b'; readonly value: boolean }
  | { readonly type: 's'; readonly value: string }
  | { readonly type: 'as'; readonly value: readonly string[] }
  | { readonly type: 'other'; readonly signature: string; readonly value: unknown }

export interface SystemdProperty {
  readonly name: string
  readonly value: SystemdValue
}

/** systemd's word for "no limit". */
export const systemdInfinity = 2n ** 64n - 1n

const byFile: Readonly<Record<string, string>> = {
  'memory.min': 'MemoryMin',
  'memory.low': 'MemoryLow',
  'memory.high': 'MemoryHigh',
  'memory.max': 'MemoryMax',
  'memory.swap.max': 'MemorySwapMax',
  'cpu.weight': 'CPUWeight',
  'pids.max': 'TasksMax',
  'memory.limit_in_bytes': 'MemoryLimit',
  'cpu.shares': 'CPUShares',
}

const number = (name: string, value: bigint): SystemdProperty => ({ name, value: { type: 't', value } })

function parseAmount(file: string, text: string): bigint {
  if (text === 'max' || text === '-1') return systemdInfinity
  if (/^\d+$/.test(text)) return BigInt(text)
  throw keelsonError(
    'cgroup.invalid-value',
    `make a systemd property of ${file}=${text}: neither a number nor 'max'; give one of them`,
    { file, value: text },
  )
}

/** systemd keeps whole percents: rounded up, so that children may still have what their own quota says. */
const PERCENT_MICROS = 10_000n

function quotaProperties(file: string, quota: string, period: string): SystemdProperty[] {
  const periodMicros = parseAmount(file, period)
  const amount = parseAmount(file, quota)
  const perSecond =
    amount === systemdInfinity || periodMicros === 0n
      ? systemdInfinity
      : ((amount * 1_000_000n) / periodMicros + PERCENT_MICROS - 1n) / PERCENT_MICROS
  return [
    number('CPUQuotaPerSecUSec', perSecond === systemdInfinity ? perSecond : perSecond * PERCENT_MICROS),
    number('CPUQuotaPeriodUSec', periodMicros),
  ]
}

const DEFAULT_PERIOD = '100000'

/** `{'memory.high': 'max', 'cpu.max': '50000 100000'}` -> MemoryHigh=infinity, CPUQuotaPerSecUSec=500000, ... */
export function systemdProperties(values: Readonly<Record<string, string>>): SystemdProperty[] {
  const properties = Object.entries(values).flatMap(([file, text]) => {
    const name = byFile[file]
    return name === undefined ? [] : [number(name, parseAmount(file, text.trim()))]
  })
  const [quota, period] = (values['cpu.max'] ?? '').trim().split(/\s+/)
  if (quota) properties.push(...quotaProperties('cpu.max', quota, period ?? DEFAULT_PERIOD))
  const quotaV1 = values['cpu.cfs_quota_us']
  if (quotaV1 !== undefined)
    properties.push(
      ...quotaProperties('cpu.cfs_quota_us', quotaV1.trim(), values['cpu.cfs_period_us'] ?? DEFAULT_PERIOD),
    )
  return properties
}

/** What a new slice starts with: its parent pulled in, and accounting, which makes systemd enable the controllers. */
export function newSliceProperties(unit: string, parent: string | undefined): SystemdProperty[] {
  const on = (name: string): SystemdProperty => ({ name, value: { type: 'b', value: true } })
  return [
    { name: 'Description', value: { type: 's', value: `pod resources: ${unit}` } },
    // Without this the slice is ordered against shutdown and stops before the containers in it.
    { name: 'DefaultDependencies', value: { type: 'b', value: false } },
    ...(parent === undefined
      ? []
      : [{ name: 'Wants', value: { type: 'as', value: [parent] } } satisfies SystemdProperty]),
    ...['CPUAccounting', 'IOAccounting', 'MemoryAccounting', 'TasksAccounting'].map(on),
  ]
}

/** `kubepods-burstable-pod1.slice` -> `kubepods-burstable.slice`; a top-level slice has no named parent. */
export function parentSlice(unit: string): string | undefined {
  const dash = unit.lastIndexOf('-')
  return dash <= 0 ? undefined : `${unit.slice(0, dash)}.slice`
}
