import { expect, test } from 'vitest'
import { newSliceProperties, parentSlice, systemdInfinity, systemdProperties } from './systemd-properties.js'

const named = (values: Record<string, string>) =>
  Object.fromEntries(systemdProperties(values).map((p) => [p.name, p.value.value]))

test('memory, weight and tasks; max is infinity', () => {
  expect(
    named({
      'memory.min': '0',
      'memory.low': '4096',
      'memory.high': 'max',
      'memory.max': '9223372036854775807',
      'memory.swap.max': '0',
      'cpu.weight': '39',
      'pids.max': 'max',
    }),
  ).toEqual({
    MemoryMin: 0n,
    MemoryLow: 4096n,
    MemoryHigh: systemdInfinity,
    MemoryMax: 9223372036854775807n,
    MemorySwapMax: 0n,
    CPUWeight: 39n,
    TasksMax: systemdInfinity,
  })
  expect(systemdInfinity).toBe(18446744073709551615n)
})

for (const { value, perSecond, period } of [
  { value: 'max 100000', perSecond: systemdInfinity, period: 100000n },
  { value: '50000 100000', perSecond: 500000n, period: 100000n },
  { value: '250000 100000', perSecond: 2500000n, period: 100000n },
  { value: '1001 100000', perSecond: 20000n, period: 100000n },
  { value: '5000 50000', perSecond: 100000n, period: 50000n },
  { value: '70000', perSecond: 700000n, period: 100000n },
])
  test(`cpu.max ${value}`, () => {
    expect(named({ 'cpu.max': value })).toEqual({ CPUQuotaPerSecUSec: perSecond, CPUQuotaPeriodUSec: period })
  })

test('v1 names', () => {
  expect(
    named({
      'memory.limit_in_bytes': '-1',
      'cpu.shares': '1024',
      'cpu.cfs_quota_us': '-1',
      'cpu.cfs_period_us': '100000',
    }),
  ).toEqual({
    MemoryLimit: systemdInfinity,
    CPUShares: 1024n,
    CPUQuotaPerSecUSec: systemdInfinity,
    CPUQuotaPeriodUSec: 100000n,
  })
})

test('what systemd has no property for is left out; nonsense is refused', () => {
  expect(named({ 'hugetlb.2MB.max': '0', 'memory.oom.group': '1' })).toEqual({})
  expect(() => named({ 'memory.high': 'lots' })).toThrow(/memory.high=lots/)
})

test('a new slice wants its parent and has accounting', () => {
  expect(parentSlice('kubepods-burstable-pod1.slice')).toBe('kubepods-burstable.slice')
  expect(parentSlice('kubepods.slice')).toBeUndefined()
  expect(parentSlice('-.slice')).toBeUndefined()
  const properties = newSliceProperties('kubepods-a.slice', 'kubepods.slice')
  expect(properties.find((p) => p.name === 'Wants')?.value.value).toEqual(['kubepods.slice'])
  expect(properties.filter((p) => p.name.endsWith('Accounting')).map((p) => p.value.value)).toEqual([
    true,
    true,
    true,
    true,
  ])
})
