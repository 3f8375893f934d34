// Which variables of systemd mean that it watches over this process.
import { expect, test } from 'vitest'
import { parseWatchdog } from './watchdog-env.js'

const given = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '120000000', WATCHDOG_PID: '42' }

test('two minutes: heard of every minute', () => {
  expect(parseWatchdog(given, 42)).toEqual({ limitMs: 120_000, intervalMs: 60_000 })
  expect(parseWatchdog({ ...given, WATCHDOG_PID: undefined }, 7)?.intervalMs).toBe(60_000)
})

for (const [name, env] of [
  ['no variables', {}],
  ['meant for a parent', { ...given, WATCHDOG_PID: '41' }],
  ['nobody to tell', { ...given, NOTIFY_SOCKET: '' }],
  ['off', { ...given, WATCHDOG_USEC: '0' }],
  ['no number', { ...given, WATCHDOG_USEC: '1e9' }],
  ['negative', { ...given, WATCHDOG_USEC: '-1' }],
] as const)
  test(`${name}: nobody watches`, () => expect(parseWatchdog(env, 42)).toBeUndefined())
