import { expect, test } from 'vitest'
import { rootProblem } from './non-root.js'

for (const { name, input, fine } of [
  { name: 'runAsUser 1000', input: { runAsUser: 1000, imageUid: 0n, imageUser: '' }, fine: true },
  { name: 'runAsUser 0', input: { runAsUser: 0, imageUid: 5n, imageUser: '' }, fine: false },
  { name: 'image of root', input: { runAsUser: undefined, imageUid: 0n, imageUser: '' }, fine: false },
  {
    name: 'image without a user',
    input: { runAsUser: undefined, imageUid: undefined, imageUser: '' },
    fine: false,
  },
  { name: 'image of user 5', input: { runAsUser: undefined, imageUid: 5n, imageUser: '' }, fine: true },
  {
    name: 'image of a named user',
    input: { runAsUser: undefined, imageUid: undefined, imageUser: 'www' },
    fine: false,
  },
] as const)
  test(`runAsNonRoot, ${name}: ${fine ? 'runs' : 'is refused'}`, () =>
    expect(rootProblem(input) === undefined).toBe(fine))
