import { expect, test } from 'vitest'
import { expandReferences } from './expand.js'

for (const [text, result] of [
  ['$(A)', 'one'],
  ['x$(A)y$(A)', 'xoney' + 'one'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$(B)', '$(B)'],
  ['$(A', '$(A'],
  ['$A', '$A'],
  ['$', '$'],
  ['$$', '$'],
  ['$()', '$()'],
] as const)
  test(`${text} is ${result}`, () =>
    expect(expandReferences(text, (name) => (name === 'A' ? 'one' : undefined))).toBe(result))
