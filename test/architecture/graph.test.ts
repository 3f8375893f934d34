// The graph of imports of src as a whole: no circles, and no export that no other file uses.
import { describe, expect, test } from 'vitest'
import { exportsOf, importsOf, isTest, sources, textOf } from './source-tree.js'

const files = ['src', 'test', 'bench', 'conformance', 'scripts'].flatMap(sources)
const known = new Set(files)
const production = files.filter((f) => f.startsWith('src/') && !isTest(f))

/** Groups of files that import each other, types included: what one cannot read without the others. */
function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file) ?? 0)
    stack.push(file)
    const lower = (to: number): void => void low.set(file, Math.min(low.get(file) ?? 0, to))
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) {
        visit(next)
        lower(low.get(next) ?? 0)
      } else if (stack.includes(next)) lower(index.get(next) ?? 0)
    }
    if (low.get(file) !== index.get(file)) return
    const circle = stack.splice(stack.indexOf(file))
    if (circle.length > 1 || edges.get(file)?.includes(file) === true) circles.push(circle.sort())
  }
  for (const file of edges.keys()) if (!index.has(file)) visit(file)
  return circles
}

describe('circles', () => {
  test('no file of src imports itself in the end, not even a type', () => {
    const edges = new Map(production.map((f) => [f, importsOf(f, known).map((i) => i.target)]))
    expect(circlesOf(edges)).toEqual([])
  })

  test('circles of any length are found', () => {
    const edges = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', ['d']],
      ['e', ['a']],
    ])
    expect(circlesOf(edges)).toEqual([['d'], ['a', 'b', 'c']])
  })
})

describe('exports', () => {
  const generated = 'src/cri-api/'
  /** The package gives it to other programs, with all that it hands on. */
  const library = 'src/core/index.ts'

  const usedOf = new Map<string, Set<string>>()
  for (const file of files)
    for (const { target, names } of importsOf(file, known)) {
      const used = usedOf.get(target) ?? new Set()
      usedOf.set(target, used)
      for (const name of names) used.add(name)
    }

  const unusedOf = (file: string): readonly string[] => {
    const used = usedOf.get(file)
    if (used?.has('*') === true) return []
    return exportsOf(file).filter((name) => used?.has(name) !== true)
  }

  test('every export of src has a user in another file', () => {
    const unused = production
      .filter((f) => !f.startsWith(generated) && f !== library)
      .flatMap((f) => unusedOf(f).map((name) => `${f}: ${name}`))
    expect(unused).toEqual([])
  })

  test('no file of src is for tests alone', () => {
    const entries = ['src/cli/main.ts', 'src/lab/agent.ts', 'src/dashboard/main.tsx', library]
    const importers = new Map<string, string[]>()
    for (const file of files)
      for (const { target } of importsOf(file, known))
        importers.set(target, [...(importers.get(target) ?? []), file])
    const dead = production
      .filter((f) => !entries.includes(f) && !f.startsWith('src/fakes/'))
      .filter((f) => !(importers.get(f) ?? []).some((by) => production.includes(by)))
    expect(dead).toEqual([])
  })

  test('what a file exports and imports is read in every form', () => {
    const self = importsOf('test/architecture/graph.test.ts', known)
    expect(self.map((i) => i.target)).toEqual(['test/architecture/source-tree.ts'])
    expect(self[0]?.names).toEqual(['exportsOf', 'importsOf', 'isTest', 'sources', 'textOf'])
    expect(exportsOf('test/architecture/source-tree.ts')).toEqual(
      [...textOf('test/architecture/source-tree.ts').matchAll(/^export \w+ (\w+)/gm)].map((m) => m[1]),
    )
    const loaded = importsOf('src/cli/commands.ts', known).filter((i) => i.names.includes('*'))
    expect(loaded.length).toBeGreaterThan(10)
  })
})
