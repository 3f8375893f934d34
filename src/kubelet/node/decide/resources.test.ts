import { expect, test } from 'vitest'
import { parseQuantity } from '../../../core/units/quantity.js'
import { decideAllocatable, decideCapacity, type MachineResources } from './resources.js'

const GiB = 1024n ** 3n
const machine: MachineResources = {
  cpus: 4,
  memoryBytes: 8n * GiB,
  hugePages: [{ pageBytes: 2n * 1024n * 1024n, pages: 0n }],
  rootFsBytes: 100_000_000_001n,
  maxPods: 110,
  podsPerCore: 0,
}

test('capacity as a Node shows it', () => {
  expect(decideCapacity(machine)).toEqual({
    cpu: '4',
    memory: '8Gi',
    pods: '110',
    'ephemeral-storage': '100000000001',
    'hugepages-2Mi': '0',
  })
  expect(decideCapacity({ ...machine, podsPerCore: 10 })['pods']).toBe('40')
  expect(decideCapacity({ ...machine, podsPerCore: 100 })['pods']).toBe('110')
  expect(decideCapacity({ ...machine, rootFsBytes: undefined })).not.toHaveProperty('ephemeral-storage')
})

test('resources of others stay, sizes of huge pages that the kernel lost go', () => {
  const before = { cpu: '2', 'example.com/gpu': '3', 'hugepages-1Gi': '4Gi' }
  const after = decideCapacity(machine, before)
  expect(after).toMatchObject({ cpu: '4', 'example.com/gpu': '3' })
  expect(after).not.toHaveProperty('hugepages-1Gi')
})

test('allocatable: reservations, hard eviction, huge pages; never below 0', () => {
  const capacity = decideCapacity({
    ...machine,
    hugePages: [
      { pageBytes: 2n * 1024n * 1024n, pages: 512n },
      { pageBytes: GiB, pages: 1n },
    ],
  })
  const reservations = {
    kubeReserved: new Map([
      ['cpu', parseQuantity('100m')],
      ['memory', parseQuantity('1Gi')],
    ]),
    systemReserved: new Map([['cpu', parseQuantity('400m')]]),
    eviction: { 'memory.available': '1Gi', 'nodefs.available': '10%' },
  }
  expect(decideAllocatable(capacity, reservations)).toEqual({
    cpu: '3500m',
    // 8 - 1 reserved - 1 eviction - 1 and 1 of huge pages
    memory: '4Gi',
    pods: '110',
    // The fraction is kept in 32 bits, as upstream does.
    'ephemeral-storage': '89999999852',
    'hugepages-2Mi': '1Gi',
    'hugepages-1Gi': '1Gi',
  })
  expect(
    decideAllocatable(
      { cpu: '1' },
      { ...reservations, systemReserved: new Map([['cpu', parseQuantity('9')]]) },
    ),
  ).toEqual({ cpu: '0' })
})
