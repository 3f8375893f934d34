// A map whose entries have an end and whose size has a bound: the least recently used one goes first.
import type { Clock } from '../ports/clock.js'
import { monotonicMs } from './deadline.js'

interface ExpiringCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V, ttlMs: number): void
  delete(key: string): void
  readonly size: number
}

interface Entry<V> {
  readonly value: V
  readonly untilMs: number
}

export function createExpiringCache<V>(
  clock: Pick<Clock, 'monotonicNanos'>,
  maxEntries: number,
): ExpiringCache<V> {
  const entries = new Map<string, Entry<V>>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      if (entry.untilMs <= monotonicMs(clock)) return undefined
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, ttlMs) {
      entries.delete(key)
      if (ttlMs <= 0) return
      entries.set(key, { value, untilMs: monotonicMs(clock) + ttlMs })
      if (entries.size <= maxEntries) return
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    },
    delete: (key) => void entries.delete(key),
    get size() {
      return entries.size
    },
  }
}
