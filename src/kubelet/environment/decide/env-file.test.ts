import { expect, test } from 'vitest'
import { envFileValue } from './env-file.js'

for (const [name, text, value] of [
  ['a value', "A='1'\nK='two words'\n", 'two words'],
  ['a value of several lines', "K='one\n  two'\n", 'one\n  two'],
  ['nothing is expanded', "K='$(A) $B \\n'", '$(A) $B \\n'],
  ['blanks before, a comment after', "# c\n\n \t K='v' # why", 'v'],
  ['the first of two', "K='1'\nK='2'", '1'],
  ['an empty value', "K=''", ''],
  ['a blank after the equals sign', "K= 'v'", ''],
  ['not there', "A='1'", ''],
  ['nothing', '', ''],
  ['no quotes', 'K=v', undefined],
  ['no equals sign', 'K', undefined],
  ['no name', "='v'", undefined],
  ['a blank before the equals sign', "K ='v'", undefined],
  ['something after the quote', "K='v'w", undefined],
  ['no closing quote', "K='v\nw", undefined],
  ['a broken line after the value does not matter', "K='v'\nbroken", 'v'],
] as const)
  test(name, () => expect(envFileValue(text, 'K')).toBe(value))
