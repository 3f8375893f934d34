import { expect, test } from 'vitest'
import { humanBytes } from './human-bytes.js'

test.each([
  [0n, '0'],
  [512n, '512'],
  [999n, '999'],
  [1000n, '0.98Ki'],
  [1024n, '1Ki'],
  [1536n, '1.5Ki'],
  [199_229_440n, '190Mi'],
  [10n * 1024n ** 2n + 52_429n, '10.1Mi'],
  [1023n * 1024n ** 2n, '1Gi'],
  [1_610_612_736n, '1.5Gi'],
  [2n ** 63n, '8Ei'],
])('humanBytes(%s) is %s', (amount, text) => {
  expect(humanBytes(amount)).toBe(text)
})
