import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertProperty } from '../../test/support/property.js'
import {
  applyPatch,
  type ConfigNode,
  composePatch,
  fromJson,
  type Json,
  nodeAt,
  replaceAt,
  toJson,
} from './node.js'
import { defaultOrigin } from './origin.js'

const node = (value: Json): ConfigNode => fromJson(value, defaultOrigin)

// The test cases of RFC 7386, appendix A, that have an object as patch.
for (const [target, patch, result] of [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [['a', 'b'], { a: 'b' }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
] as const) {
  test(`${JSON.stringify(target)} + ${JSON.stringify(patch)}`, () => {
    expect(toJson(applyPatch(node(target), node(patch)))).toEqual(result)
  })
}

const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 'x', [], [1]),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('json'), { maxKeys: 3 }),
  ),
})).json
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), value, { maxKeys: 4 })

test('drop-ins applied one by one equal one patch composed with nulls kept', () => {
  assertProperty(
    fc.property(fc.array(object, { minLength: 1, maxLength: 5 }), (patches) => {
      const nodes = patches.map(node)
      const oneByOne = nodes.reduce<ConfigNode | undefined>(applyPatch, undefined)
      const composed = nodes.reduce<ConfigNode | undefined>(composePatch, undefined)
      if (oneByOne === undefined || composed === undefined) throw new Error('no patches')
      expect(toJson(applyPatch(undefined, composed))).toEqual(toJson(oneByOne))
    }),
    { numRuns: 2000 },
  )
})

test('replaceAt makes the way and replaces what stands there', () => {
  const root = node({ a: { b: 1 }, x: 2 })
  if (root.kind !== 'object') throw new Error('an object')
  expect(toJson(replaceAt(root, ['a', 'c'], node({ d: 3 })))).toEqual({ a: { b: 1, c: { d: 3 } }, x: 2 })
  expect(toJson(replaceAt(root, ['x', 'y'], node(1)))).toEqual({ a: { b: 1 }, x: { y: 1 } })
  expect(nodeAt(root, ['a', 'b', 'c'])).toBeUndefined()
})
