import { expect, test } from 'vitest'
import { type Backoff, backoffUntil, nextBackoff } from './restart-backoff.js'

const second = 1_000_000_000n

test('ten crashes of a container that lives for a second: 0, 10, 20, ... 300 s between end and start', () => {
  let backoff: Backoff | undefined
  let now = 1000n * second
  const waits: bigint[] = []
  for (let i = 0; i < 8; i += 1) {
    const ended = now
    const until = backoffUntil(backoff, ended, now)
    waits.push(until === undefined ? 0n : (until - ended) / second)
    now = until ?? now
    backoff = nextBackoff(backoff, ended, now)
    now += second
  }
  expect(waits).toEqual([0n, 10n, 20n, 40n, 80n, 160n, 300n, 300n])
})

test('a container that ran for more than ten minutes begins again', () => {
  const backoff: Backoff = { delayNanos: 300n * second, updatedAtNanos: 0n }
  expect(backoffUntil(backoff, 600n * second, 600n * second)).toBe(900n * second)
  expect(backoffUntil(backoff, 601n * second, 601n * second)).toBeUndefined()
  expect(nextBackoff(backoff, 601n * second, 601n * second).delayNanos).toBe(10n * second)
})
