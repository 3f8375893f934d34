import { describe, expect, test } from 'vitest'
import { isKeelsonError } from '../core/errors.js'
import { nodeAt, toJson } from './node.js'
import type { Origin } from './origin.js'
import { parseYaml } from './parse-yaml.js'
import { decodeText, maxConfigBytes } from './read-text.js'

const originAt = (line: number): Origin => ({ from: 'file', path: 'f.yaml', line })
const parse = (text: string) => parseYaml(text, 'f.yaml', originAt)
const json = (text: string): unknown => {
  const node = parse(text)
  return node === undefined ? undefined : toJson(node)
}
const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (e) {
    if (isKeelsonError(e)) return `${e.code} ${e.message}`
    throw e
  }
  return 'accepted'
}

describe('values as Kubernetes reads them', () => {
  for (const [name, text, expected] of [
    ['1.1 booleans', 'a: yes\nb: off\nc: "yes"', { a: true, b: false, c: 'yes' }],
    ['octal and hex', 'a: 0755\nb: 0x10', { a: 493, b: 16 }],
    ['base 60 and dates stay text', 'a: 1:30\nb: 2001-01-01', { a: '1:30', b: '2001-01-01' }],
    ['large integers are exact', 'a: 99999999999999999999', { a: 99999999999999999999n }],
    ['floats', 'a: 0.9\nb: .nan\nc: .inf', { a: 0.9, b: Number.NaN, c: Number.POSITIVE_INFINITY }],
    ['nulls', 'a:\nb: ~\nc: null', { a: null, b: null, c: null }],
    ['JSON', '{"a": [1, {"b": true}]}', { a: [1, { b: true }] }],
    [
      'anchors and merge keys',
      'a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3',
      { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } },
    ],
    ['a quoted << is a key', '{"<<": 1}', { '<<': 1 }],
    ['number keys', '1: a', { '1': 'a' }],
    ['comments only', '# nothing\n', undefined],
    ['empty', '', undefined],
  ] as const) {
    test(name, () => expect(json(text)).toEqual(expected))
  }

  test('a key called __proto__ is a key', () => {
    const node = parse('a: {__proto__: {b: 1}}')
    expect(nodeAt(node, ['a', '__proto__', 'b'])).toMatchObject({ value: 1 })
    expect(Object.prototype).not.toHaveProperty('b')
  })

  test('every value knows the line of its key', () => {
    const node = parse('a: 1\n\nb:\n  c:\n    - x\n  d: >\n    long\n    text\n')
    expect(nodeAt(node, ['a'])?.origin).toEqual(originAt(1))
    expect(nodeAt(node, ['b', 'c'])?.origin).toEqual(originAt(4))
    expect(nodeAt(node, ['b', 'd'])?.origin).toEqual(originAt(6))
  })
})

describe('refused', () => {
  for (const [name, text, says] of [
    ['duplicate keys', 'a: 1\nb: 2\na: 3', /f\.yaml:3: key "a" is there twice/],
    ['duplicate keys in a nested mapping', 'x:\n  a: 1\n  a: 1', /f\.yaml:3/],
    ['an open list', 'a: [1', /yaml\.invalid parse f\.yaml:1/],
    ['tabs', 'a:\n\tb: 1', /f\.yaml:2/],
    ['two documents', 'a: 1\n---\nb: 2', /f\.yaml:3: a second document/],
    ['unknown anchors', 'a: *nope', /unknown anchor \*nope/],
    ['aliases of themselves', 'a: &a [*a]', /contains itself/],
    ['mappings as keys', '? {a: 1}\n: 2', /a key must be a plain word/],
    ['merging a scalar', 'a: &x 1\nb: {<<: *x}', /<< needs a mapping/],
    ['deep nesting, flow', '['.repeat(50_000), /nested more than 64 levels/],
    ['deep nesting behind comments', '[ # ]\n'.repeat(5_000), /nested more than 64 levels/],
    ['deep nesting, block', '- '.repeat(20_000), /nested more than 64 levels/],
    [
      'an alias bomb',
      `a0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
      /more than 50000 values/,
    ],
  ] as const) {
    test(name, () => expect(refusal(() => parse(text))).toMatch(says))
  }
})

describe('bytes', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  test('text is text, a byte order mark is none', () => {
    expect(decodeText({ path: 'f', bytes: bytes('\ufeffa: é') })).toBe('a: é')
  })
  for (const [name, input, code] of [
    ['50 MB', new Uint8Array(50 * 1024 * 1024).fill(0x61), 'input.too-large'],
    ['just too large', new Uint8Array(maxConfigBytes + 1).fill(0x61), 'input.too-large'],
    ['NUL bytes', new Uint8Array([0x61, 0, 0x62]), 'input.not-text'],
    ['no UTF-8', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe]), 'input.not-text'],
  ] as const) {
    test(`${name}: ${code}`, () =>
      expect(refusal(() => decodeText({ path: 'f', bytes: input }))).toContain(code))
  }
})
