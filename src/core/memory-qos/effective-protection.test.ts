import { expect, test } from 'vitest'
import { effectiveProtection, type ProtectionNode } from './effective-protection.js'

const node = (path: string, setting: number, usage: number): ProtectionNode => {
  const parent = path.slice(0, path.lastIndexOf('/'))
  return { path, parent: parent === '' ? undefined : parent, setting: BigInt(setting), usage: BigInt(usage) }
}
const effective = (nodes: ProtectionNode[], recursive = false) =>
  Object.fromEntries(
    [...effectiveProtection(nodes, { recursive })].map(([path, e]) => [path, Number(e.effective)]),
  )

test('a child of the root has what it asks for', () => {
  expect(effective([node('/a', 100, 10)])).toEqual({ '/a': 100 })
})

test('a chain that covers its children gives each its own, as far as it is in use', () => {
  expect(effective([node('/a', 100, 200), node('/a/b', 100, 200), node('/a/b/c', 80, 50)])).toEqual({
    '/a': 100,
    '/a/b': 100,
    '/a/b/c': 50,
  })
})

test('one ancestor without protection voids everything below it, and is named', () => {
  const result = effectiveProtection([node('/a', 100, 200), node('/a/b', 0, 200), node('/a/b/c', 80, 200)], {
    recursive: false,
  })
  expect(result.get('/a/b/c')).toEqual({ effective: 0n, cappedBy: '/a/b' })
})

test('the ancestor that really caps is named, not the one in between', () => {
  const result = effectiveProtection([node('/a', 0, 200), node('/a/b', 80, 200), node('/a/b/c', 80, 200)])
  expect(result.get('/a/b')).toEqual({ effective: 0n, cappedBy: '/a' })
  expect(result.get('/a/b/c')).toEqual({ effective: 0n, cappedBy: '/a' })
})

test('overcommitted children share by what they claim', () => {
  const nodes = [node('/a', 100, 400), node('/a/b', 150, 200), node('/a/c', 50, 200)]
  expect(effective(nodes)).toEqual({ '/a': 100, '/a/b': 75, '/a/c': 25 })
})

test('a claim beyond usage takes nothing from siblings', () => {
  const nodes = [node('/a', 100, 120), node('/a/b', 1000, 20), node('/a/c', 80, 100)]
  expect(effective(nodes)).toEqual({ '/a': 100, '/a/b': 20, '/a/c': 80 })
})

test('recursive protection shares what is unclaimed by unprotected usage', () => {
  const nodes = [node('/a', 100, 200), node('/a/b', 0, 150), node('/a/c', 0, 50)]
  expect(effective(nodes, true)).toEqual({ '/a': 100, '/a/b': 75, '/a/c': 25 })
  expect(effective(nodes, false)).toEqual({ '/a': 100, '/a/b': 0, '/a/c': 0 })
})
