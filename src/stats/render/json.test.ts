// JSON with bigints.
import { expect, test } from 'vitest'
import { addJson, formatTime } from './json.js'

test('JSON prints every digit, leaves out what is undefined, and times without parts of a second', () => {
  let text = ''
  const into = {
    add(part: string) {
      text += part
    },
  }
  addJson({ a: 18_446_744_073_709_551_615n, b: undefined, c: [null, 1.5, 'x"'], d: {} }, into)
  expect(text).toBe('{"a":18446744073709551615,"c":[null,1.5,"x\\""],"d":{}}')
  expect(formatTime(1_790_000_000_999_999_999n)).toBe('2026-09-21T14:13:20Z')
  expect(formatTime(0n)).toBeNull()
})
