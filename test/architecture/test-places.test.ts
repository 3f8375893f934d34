// Where tests stand: beside the file they test, named for it, so that a reader finds them without a search.
import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { isTest, sources } from './source-tree.js'

const src = sources('src')
const stems = new Set(src.filter((f) => !isTest(f)).map((f) => f.replace(/\.tsx?$/, '')))

/** `x.test.ts` beside `x.ts`, or named for the folder; `x-of-something.test.ts` where there are several. */
function hasSubject(file: string): boolean {
  const folder = dirname(file)
  const words = basename(file).replace('.test.ts', '').split('-')
  return words.some((_, i) => {
    const name = words.slice(0, i + 1).join('-')
    return name === basename(folder) || stems.has(`${folder}/${name}`)
  })
}

test('a test beside code is named for a file there, or for the folder', () => {
  expect(src.filter((f) => isTest(f) && !hasSubject(f))).toEqual([])
})

test('a test that no file has the name of is seen', () => {
  expect(hasSubject('src/up/machine.test.ts')).toBe(true)
  expect(hasSubject('src/config/load-problems.test.ts')).toBe(true)
  expect(hasSubject('src/up/things.test.ts')).toBe(false)
})
