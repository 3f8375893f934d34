import { expect, test } from 'vitest'
import { counted } from './counted.js'

for (const [count, text] of [
  [0, '0 pods'],
  [1, '1 pod'],
  [2, '2 pods'],
] as const)
  test(text, () => expect(counted(count, 'pod')).toBe(text))

test('one is never said as many, verb included', () => {
  expect(counted(1, 'container is', 'containers are')).toBe('1 container is')
})
