import { expect, test } from 'vitest'
import { isEqualJson, strategicMergePatch } from './strategic-merge.js'

const rules = { merged: { 'status.conditions': 'type' }, replaced: ['status.addresses'] }

for (const { name, before, after, patch } of [
  { name: 'equal', before: { a: { b: [1] } }, after: { a: { b: [1] } }, patch: undefined },
  {
    name: 'fields that are undefined are not there',
    before: { a: 1 },
    after: { a: 1, b: undefined },
    patch: undefined,
  },
  {
    name: 'a value, and a field that went',
    before: { a: 1, b: 2, c: 3 },
    after: { a: 9, c: 3 },
    patch: { a: 9, b: null },
  },
  {
    name: 'below',
    before: { metadata: { labels: { x: '1', y: '2' } } },
    after: { metadata: { labels: { x: '1', z: '3' } } },
    patch: { metadata: { labels: { y: null, z: '3' } } },
  },
  {
    name: 'a list without a rule is sent whole',
    before: { l: [1, 2] },
    after: { l: [2] },
    patch: { l: [2] },
  },
  {
    name: 'conditions: what differs, what went, and the order',
    before: {
      status: { conditions: [{ type: 'A', status: 'x', at: 1 }, { type: 'B', status: 'x' }, { type: 'C' }] },
    },
    after: {
      status: {
        conditions: [
          { type: 'B', status: 'x' },
          { type: 'A', status: 'y' },
          { type: 'D', status: 'n' },
        ],
      },
    },
    patch: {
      status: {
        conditions: [
          { type: 'A', status: 'y', at: null },
          { type: 'D', status: 'n' },
          { $patch: 'delete', type: 'C' },
        ],
        '$setElementOrder/conditions': [{ type: 'B' }, { type: 'A' }, { type: 'D' }],
      },
    },
  },
  {
    name: 'addresses: two of one type, so the whole list with its mark',
    before: { status: { addresses: [{ type: 'InternalIP', address: '1' }] } },
    after: {
      status: {
        addresses: [
          { type: 'InternalIP', address: '1' },
          { type: 'InternalIP', address: '2' },
        ],
      },
    },
    patch: {
      status: {
        addresses: [
          { type: 'InternalIP', address: '1' },
          { type: 'InternalIP', address: '2' },
          { $patch: 'replace' },
        ],
      },
    },
  },
])
  test(`strategicMergePatch: ${name}`, () => {
    expect(strategicMergePatch(before, after, rules)).toEqual(patch)
  })

test('isEqualJson: order of keys does not count, order of lists does', () => {
  expect(isEqualJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true)
  expect(isEqualJson([1, 2], [2, 1])).toBe(false)
  expect(isEqualJson({ a: null }, {})).toBe(false)
})
