import { expect, test } from 'vitest'
import { needsRefresh } from './token-refresh.js'

const hour = 3_600_000
for (const { name, hours, lifeHours, random, refresh } of [
  { name: 'young', hours: 0.5, lifeHours: 1, random: 0, refresh: false },
  { name: 'just before a fifth is left', hours: 0.799, lifeHours: 1, random: 0, refresh: false },
  { name: 'a fifth is left', hours: 0.8, lifeHours: 1, random: 0, refresh: true },
  { name: 'up to ten seconds early', hours: 0.8 - 9 / 3600, lifeHours: 1, random: 1, refresh: true },
  { name: 'a day old, though it lives for a year', hours: 24, lifeHours: 24 * 365, random: 0, refresh: true },
  { name: 'less than a day old', hours: 23.9, lifeHours: 24 * 365, random: 0, refresh: false },
])
  test(`needsRefresh: ${name}`, () =>
    expect(needsRefresh({ issuedMs: 0, expiresMs: lifeHours * hour, random }, hours * hour)).toBe(refresh))
