import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../../../test/support/property.js'
import type { Observation, Observations } from './observations.js'
import { decideRound, type EvictionState, initialState } from './round.js'
import type { Signal } from './signals.js'
import { configuredThresholds, type Threshold, thresholdsMet, withContainerFs } from './thresholds.js'

const second = 1_000_000_000n
const MiB = 1024n ** 2n

const hard = (signal: Signal, value: string, minReclaim?: string): Threshold => ({
  signal,
  value,
  graceMs: 0,
  minReclaim,
})
const seen = (entries: Partial<Record<Signal, bigint>>, timeNanos: bigint): Observations =>
  new Map(
    Object.entries(entries).map(([signal, available]): [Signal, Observation] => [
      signal as Signal,
      { available, capacity: 1000n * MiB, timeNanos },
    ]),
  )

/** Rounds one after the other, `at` in seconds. */
function play(thresholds: readonly Threshold[], transitionMs = 300_000) {
  let state: EvictionState = initialState
  return (at: bigint, entries: Partial<Record<Signal, bigint>>, timeNanos = at * second) => {
    const decided = decideRound(state, {
      thresholds,
      observations: seen(entries, timeNanos),
      transitionMs,
      nowNanos: at * second,
    })
    state = decided.state
    return { pressure: decided.pressure, urgent: decided.urgent.map((t) => t.signal) }
  }
}

describe('thresholds of a configuration', () => {
  const fields = {
    evictionHard: {},
    evictionSoft: {},
    evictionSoftGracePeriod: {},
    evictionMinimumReclaim: {},
    enforceNodeAllocatable: ['pods'],
  }
  test('a hard memory threshold also holds for the cgroup of all pods; 0, 0% and 100% are none', () => {
    const evictionHard = {
      'memory.available': '100Mi',
      'nodefs.available': '0%',
      'imagefs.available': '100%',
      'pid.available': '0',
    }
    expect(configuredThresholds({ ...fields, evictionHard }).map((t) => t.signal)).toEqual([
      'memory.available',
      'allocatableMemory.available',
    ])
    expect(configuredThresholds({ ...fields, evictionHard, enforceNodeAllocatable: ['none'] })).toHaveLength(
      1,
    )
  })
  test('soft ones have their grace, and both the minimum reclaim of their signal', () => {
    const found = configuredThresholds({
      ...fields,
      evictionHard: { 'nodefs.available': '10%' },
      evictionSoft: { 'nodefs.available': '20%' },
      evictionSoftGracePeriod: { 'nodefs.available': 90_000 },
      evictionMinimumReclaim: { 'nodefs.available': '5%' },
    })
    expect(found).toEqual([
      { signal: 'nodefs.available', value: '10%', graceMs: 0, minReclaim: '5%' },
      { signal: 'nodefs.available', value: '20%', graceMs: 90_000, minReclaim: '5%' },
    ])
  })
  test('containerfs follows the file system of the writable layers', () => {
    const base = [hard('nodefs.available', '10%'), hard('imagefs.inodesFree', '5%')]
    expect(withContainerFs(base, 'one').at(-1)).toMatchObject({
      signal: 'containerfs.available',
      value: '10%',
    })
    expect(withContainerFs(base, 'split').at(-1)).toMatchObject({
      signal: 'containerfs.available',
      value: '10%',
    })
    expect(withContainerFs(base, 'images').at(-1)).toMatchObject({
      signal: 'containerfs.inodesFree',
      value: '5%',
    })
  })
})

test('a hard threshold acts at once; the condition stays for the transition period', () => {
  const at = play([hard('memory.available', '100Mi')])
  expect(at(0n, { 'memory.available': 100n * MiB })).toEqual({
    pressure: { memory: false, disk: false, pid: false },
    urgent: [],
  })
  expect(at(10n, { 'memory.available': 99n * MiB })).toEqual({
    pressure: { memory: true, disk: false, pid: false },
    urgent: ['memory.available'],
  })
  expect(at(20n, { 'memory.available': 500n * MiB })).toMatchObject({
    pressure: { memory: true },
    urgent: [],
  })
  expect(at(309n, { 'memory.available': 500n * MiB })).toMatchObject({ pressure: { memory: true } })
  expect(at(310n, { 'memory.available': 500n * MiB })).toMatchObject({ pressure: { memory: false } })
})

test('a soft threshold waits for its grace, and starts again when it was not met in between', () => {
  const at = play([{ ...hard('nodefs.available', '10%'), graceMs: 30_000 }])
  const low = { 'nodefs.available': 50n * MiB }
  expect(at(0n, low)).toMatchObject({ pressure: { disk: true }, urgent: [] })
  expect(at(20n, low).urgent).toEqual([])
  expect(at(25n, { 'nodefs.available': 500n * MiB }).urgent).toEqual([])
  expect(at(40n, low).urgent).toEqual([])
  expect(at(70n, low).urgent).toEqual(['nodefs.available'])
})

test('minimum reclaim: a threshold that was met is resolved only above threshold and reclaim', () => {
  const at = play([hard('nodefs.available', '100Mi', '50Mi')])
  expect(at(0n, { 'nodefs.available': 120n * MiB }).urgent).toEqual([])
  expect(at(10n, { 'nodefs.available': 90n * MiB }).urgent).toEqual(['nodefs.available'])
  expect(at(20n, { 'nodefs.available': 120n * MiB }).urgent).toEqual(['nodefs.available'])
  expect(at(30n, { 'nodefs.available': 150n * MiB }).urgent).toEqual([])
  expect(at(40n, { 'nodefs.available': 120n * MiB }).urgent).toEqual([])
})

test('values that are no newer than in the round before evict nobody', () => {
  const at = play([hard('memory.available', '100Mi')])
  expect(at(0n, { 'memory.available': 1n }, 7n).urgent).toEqual(['memory.available'])
  expect(at(10n, { 'memory.available': 1n }, 7n)).toMatchObject({ pressure: { memory: true }, urgent: [] })
  expect(at(20n, { 'memory.available': 1n }, 8n).urgent).toEqual(['memory.available'])
})

test('memory comes first; a signal that cannot be read is not met', () => {
  const at = play([
    hard('nodefs.available', '10%'),
    hard('pid.available', '10%'),
    hard('imagefs.available', '15%'),
    hard('allocatableMemory.available', '100Mi'),
  ])
  expect(at(0n, { 'nodefs.available': 1n, 'pid.available': 1n, 'allocatableMemory.available': 1n })).toEqual({
    pressure: { memory: true, disk: true, pid: true },
    urgent: ['allocatableMemory.available', 'nodefs.available', 'pid.available'],
  })
})

test('10,000 random nodes: what is urgent is met; less available never means less urgent', () => {
  const signal = fc.constantFrom<Signal>('memory.available', 'nodefs.available', 'pid.available')
  const amount = fc.bigInt(0n, 1000n * MiB)
  const value = fc.oneof(
    amount.map(String),
    fc.integer({ min: 0, max: 100 }).map((n) => `${n}%`),
  )
  const threshold = fc.record({
    signal,
    value,
    graceMs: fc.constantFrom(0, 5000),
    minReclaim: fc.option(value, { nil: undefined }),
  })
  assertProperty(
    fc.property(
      fc.array(threshold, { minLength: 1, maxLength: 6 }),
      fc.array(fc.record({ signal, available: amount }), { minLength: 1, maxLength: 8 }),
      amount,
      (thresholds, rounds, less) => {
        const at = play(thresholds)
        return rounds.every(({ signal: name, available }, n) => {
          const { urgent, pressure } = at(BigInt(n) * 10n, { [name]: available })
          const observations = seen({ [name]: available }, 1n)
          const met = thresholdsMet(thresholds, observations, true).map((t) => t.signal)
          const lower = seen({ [name]: available < less ? 0n : available - less }, 1n)
          return (
            urgent.every((found) => met.includes(found)) &&
            (urgent.length === 0 || Object.values(pressure).includes(true)) &&
            thresholdsMet(thresholds, lower, false).length >=
              thresholdsMet(thresholds, observations, false).length
          )
        })
      },
    ),
    { numRuns: 10_000 },
  )
}, 60_000)
