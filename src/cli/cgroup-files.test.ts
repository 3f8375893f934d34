import { expect, test } from 'vitest'
import { decideKeptDescriptors } from './cgroup-files.js'

for (const [name, limit, kept] of [
  ['a small limit leaves half', 1_024n, 512],
  ['a usual limit leaves room for the rest', 20_000n, 17_952],
  ['a huge limit is not used up', 1_048_576n, 262_144],
  ['no limit', 'unlimited', 262_144],
  ['no /proc', undefined, 512],
] as const)
  test(`kept descriptors: ${name}`, () => expect(decideKeptDescriptors(limit)).toBe(kept))
