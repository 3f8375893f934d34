// What a feed decides after each attempt: its state, the retry, and the fallback to cgroups.
import { describe, expect, test } from 'vitest'
import { type Attempt, type FeedStatus, initialStatus, nextStatus, retryAfterMs } from './feed.js'

const after = (...attempts: readonly Attempt[]): FeedStatus =>
  attempts.reduce((status, attempt) => nextStatus(status, attempt).status, initialStatus)

const isFallback = (before: FeedStatus, attempt: Attempt): boolean => nextStatus(before, attempt).isFallback

describe('state', () => {
  test.each([
    [[], 'unknown'],
    [['succeeded'], 'in-use'],
    [['succeeded', 'failed'], 'failing'],
    [['failed', 'unsupported'], 'unsupported'],
    [['unsupported', 'failed'], 'failing'],
    [['failed', 'succeeded'], 'in-use'],
  ] as const)('after %j', (attempts, state) => expect(after(...attempts).state).toBe(state))
})

test('retries back off to six periods, and a success starts anew', () => {
  const failed = (n: number): FeedStatus => after(...Array.from({ length: n }, () => 'failed' as const))
  expect([1, 2, 3, 4, 20].map((n) => retryAfterMs(failed(n), 10))).toEqual([10, 20, 40, 60, 60])
  expect(retryAfterMs(after('failed', 'failed', 'succeeded', 'failed'), 10)).toBe(10)
})

test('a runtime without the call is probed again after an hour', () => {
  expect(retryAfterMs(after('unsupported'), 10)).toBe(3_600_000)
})

test('a fallback is counted once: when the runtime was in use, or at the start', () => {
  expect(isFallback(initialStatus, 'unsupported')).toBe(true)
  expect(isFallback(after('succeeded'), 'failed')).toBe(true)
  expect(isFallback(after('failed'), 'failed')).toBe(false)
  expect(isFallback(after('failed'), 'unsupported')).toBe(false)
  expect(isFallback(after('failed'), 'succeeded')).toBe(false)
})
