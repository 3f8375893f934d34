import { describe, expect, test } from 'vitest'
import { createReadBuffers, type GiveBack, mostBuffers } from './proxy-buffers.js'

const lent = (giveBack: GiveBack | undefined): GiveBack => {
  if (giveBack === undefined) throw new Error('nothing was lent')
  return giveBack
}

describe('read buffers', () => {
  test('one is enough as long as nobody borrows it', () => {
    const buffers = createReadBuffers()
    const first = buffers.next()
    expect(buffers.next()).toBe(first)
    expect(buffers.next()).toBe(first)
    expect(buffers.isLent).toBe(false)
  })

  test('a lent one is not read into; given back it is used again', () => {
    const buffers = createReadBuffers()
    const first = buffers.next()
    const giveBack = lent(buffers.lend())
    expect(buffers.isLent).toBe(true)
    const second = buffers.next()
    expect(second === first).toBe(false)
    giveBack(true)
    lent(buffers.lend())
    expect(buffers.next()).toBe(first)
  })

  test('lent twice: both must have given it back', () => {
    const buffers = createReadBuffers()
    const first = buffers.next()
    const [a, b] = [lent(buffers.lend()), lent(buffers.lend())]
    const second = buffers.next()
    a(true)
    a(true)
    lent(buffers.lend())
    const third = buffers.next()
    expect(third === first || third === second).toBe(false)
    b(true)
    lent(buffers.lend())
    expect(buffers.next()).toBe(first)
  })

  test('given back within its own read: the next read may have it', () => {
    const buffers = createReadBuffers()
    const first = buffers.next()
    lent(buffers.lend())(true)
    expect(buffers.next()).toBe(first)
  })

  test('what may still be looked at is never read into again, and another takes its place', () => {
    const buffers = createReadBuffers()
    const seen = new Set<Buffer>()
    for (let i = 0; i < 3 * mostBuffers; i++) {
      const bytes = buffers.next()
      expect(seen.has(bytes)).toBe(false)
      seen.add(bytes)
      const giveBack = lent(buffers.lend())
      // Some at once, some after the next read has begun.
      if (i % 2 === 0) giveBack(false)
      else {
        buffers.next()
        giveBack(false)
        buffers.next()
      }
    }
  })

  test('all are kept: nothing is lent, and reading goes on', () => {
    const buffers = createReadBuffers()
    const kept: GiveBack[] = []
    for (let giveBack = buffers.lend(); giveBack !== undefined; giveBack = buffers.lend()) {
      kept.push(giveBack)
      buffers.next()
    }
    expect(kept).toHaveLength(mostBuffers - 1)
    const last = buffers.next()
    expect(buffers.next()).toBe(last)
    kept[0]?.(true)
    lent(buffers.lend())
    expect(buffers.next() === last).toBe(false)
  })
})
