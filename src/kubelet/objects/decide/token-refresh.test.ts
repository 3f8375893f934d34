import { expect, test } from 'vitest'
import { hasExpired, needsRefresh } from './token-refresh.js'

const hour = 3_600_000
const at = (wallHours: number, monotonicHours: number) => ({
  wallMs: wallHours * hour,
  monotonicMs: monotonicHours * hour,
})
const issued = at(0, 0)

for (const { name, hours, lifeHours, random, refresh } of [
  { name: 'young', hours: 0.5, lifeHours: 1, random: 0, refresh: false },
  { name: 'just before a fifth is left', hours: 0.799, lifeHours: 1, random: 0, refresh: false },
  { name: 'a fifth is left', hours: 0.8, lifeHours: 1, random: 0, refresh: true },
  { name: 'up to ten seconds early', hours: 0.8 - 9 / 3600, lifeHours: 1, random: 1, refresh: true },
  { name: 'a day old, though it lives for a year', hours: 24, lifeHours: 24 * 365, random: 0, refresh: true },
  { name: 'less than a day old', hours: 23.9, lifeHours: 24 * 365, random: 0, refresh: false },
])
  test(`needsRefresh: ${name}`, () =>
    expect(needsRefresh({ issued, lifeMs: lifeHours * hour, random }, at(hours, hours))).toBe(refresh))

test('a clock that was set back, or a machine that slept: the longer age counts', () => {
  const token = { issued, lifeMs: hour, random: 0 }
  expect(needsRefresh(token, at(-5, 0.5))).toBe(false)
  for (const now of [at(-5, 0.9), at(0.9, 0.1)]) expect(needsRefresh(token, now)).toBe(true)
  expect([hasExpired(token, at(-5, 0.9)), hasExpired(token, at(-5, 1.1))]).toEqual([false, true])
})
