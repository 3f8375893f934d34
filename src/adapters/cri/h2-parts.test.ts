import { randomBytes } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { Portion } from './h2-parts.js'
import { type Lender, lendsNothing } from './proxy-buffers.js'

const headerBytes = 9

/** Payloads as they lie in a read: each behind the header of its frame. */
function inOneRead(sizes: readonly number[]): { read: Buffer; parts: Buffer[]; size: number; whole: Buffer } {
  const size = sizes.reduce((a, b) => a + b)
  const read = randomBytes(size + headerBytes * (sizes.length + 1))
  let at = 0
  const parts = sizes.map((n) => {
    at += headerBytes
    const part = read.subarray(at, at + n)
    at += n
    return part
  })
  return { read, parts, size, whole: Buffer.concat(parts) }
}

describe('a portion of an answer', () => {
  test.each([[[100]], [[16_384, 16_384, 16_384]], [[16_384, 1, 20_000, 5]]])('copied: %s', (sizes) => {
    const { read, parts, size, whole } = inOneRead(sizes)
    const copy = new Portion(parts, size, lendsNothing).copy()
    read.fill(0)
    expect(copy.equals(whole)).toBe(true)
  })

  test.each([[[16_384]], [[16_384, 16_384, 16_384]], [[1, 16_384, 1, 20_000, 5]]])(
    'borrowed where it lies, in one piece; what follows it is left alone: %s',
    (sizes) => {
      const { read, parts, size, whole } = inOneRead(sizes)
      const rest = Buffer.from(read.subarray(-headerBytes))
      const giveBack = vi.fn()
      const borrowed = new Portion(parts, size, { lend: () => giveBack }).borrow()
      expect(borrowed?.bytes.equals(whole)).toBe(true)
      expect(borrowed?.bytes.buffer).toBe(read.buffer)
      expect(read.subarray(-headerBytes).equals(rest)).toBe(true)
      borrowed?.giveBack(true)
      expect(giveBack).toHaveBeenCalledWith(true)
    },
  )

  test('little is not worth borrowing, and where nothing can be lent the parts are as they were', () => {
    const lender: Lender = { lend: vi.fn(() => undefined) }
    const small = inOneRead([500, 500])
    expect(new Portion(small.parts, small.size, lender).borrow()).toBeUndefined()
    expect(lender.lend).not.toHaveBeenCalled()
    const large = inOneRead([20_000, 20_000])
    const portion = new Portion(large.parts, large.size, lender)
    expect(portion.borrow()).toBeUndefined()
    expect(portion.copy().equals(large.whole)).toBe(true)
  })
})
