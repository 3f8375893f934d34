import { expect, test } from 'vitest'
import { EventCorrelator, type ObservedEvent } from './correlate.js'

const second = 1_000_000_000n
const involved = { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1' }
const event = (message: string, more: Partial<ObservedEvent> = {}): ObservedEvent => ({
  type: 'Warning',
  reason: 'Unhealthy',
  message,
  involved,
  ...more,
})

test('the same event keeps its name and first time, and counts', () => {
  const correlator = new EventCorrelator()
  const first = correlator.observe(event('m'), 1n * second)
  expect(first).toMatchObject({ name: 'web.3b9aca00', count: 1, firstMs: 1000 })
  expect(correlator.observe(event('m'), 9n * second)).toMatchObject({ ...first, count: 2 })
})

test('another container of the pod is another event', () => {
  const correlator = new EventCorrelator()
  const one = correlator.observe(
    event('m', { involved: { ...involved, fieldPath: 'spec.containers{a}' } }),
    1n,
  )
  const other = correlator.observe(
    event('m', { involved: { ...involved, fieldPath: 'spec.containers{b}' } }),
    2n,
  )
  expect([one?.count, other?.count]).toEqual([1, 1])
})

test('from the tenth different message within ten minutes on, they are one event', () => {
  const correlator = new EventCorrelator()
  const seen = Array.from({ length: 12 }, (_, n) => correlator.observe(event(`m${n}`), BigInt(n) * second))
  expect(seen[8]?.message).toBe('m8')
  expect(seen[9]).toMatchObject({ message: '(combined from similar events): m9', count: 1 })
  expect(seen[11]).toMatchObject({ message: '(combined from similar events): m11', count: 3 })
  expect(seen[11]?.name).toBe(seen[9]?.name)
  const later = correlator.observe(event('m99'), 700n * second)
  expect(later).toMatchObject({ message: 'm99', count: 1 })
})

test('an object has 25 events at once, and then one in five minutes', () => {
  const correlator = new EventCorrelator()
  const at = (n: number): bigint => BigInt(n)
  const seen = Array.from({ length: 30 }, (_, n) => correlator.observe(event('m'), at(n)))
  expect(seen.filter((e) => e !== undefined)).toHaveLength(25)
  expect(correlator.observe(event('m', { involved: { ...involved, uid: 'u2' } }), at(31))).toBeDefined()
  expect(correlator.observe(event('m'), 299n * second)).toBeUndefined()
  expect(correlator.observe(event('m'), 301n * second)).toMatchObject({ count: 32 })
})

test('a pod with the longest name has an Event with a name that the API server takes', () => {
  const name = `${'a'.repeat(234)}-${'b'.repeat(18)}`
  const seen = new EventCorrelator().observe(event('m', { involved: { ...involved, name } }), 1n << 60n)
  expect(seen?.name).toBe(`${'a'.repeat(234)}.1000000000000000`)
})
