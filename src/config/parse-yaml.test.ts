import { describe, expect, test } from 'vitest'
import { processorWaitMs } from '../../test/support/processor-wait.js'
import { isKeelsonError } from '../core/errors.js'
import { nodeAt, toJson } from './node.js'
import type { Origin } from './origin.js'
import { parseYaml } from './parse-yaml.js'
import { commandManifestLimits, readManifest } from './read-manifest.js'
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
    ['duplicate keys', 'a: 1\nb: 2\na: 3', /f\.yaml:3: key "a" appears twice/],
    ['duplicate keys in a nested mapping', 'x:\n  a: 1\n  a: 1', /f\.yaml:3/],
    ['an open list', 'a: [1', /yaml\.invalid parse f\.yaml:1/],
    ['tabs', 'a:\n\tb: 1', /f\.yaml:2/],
    ['two documents', 'a: 1\n---\nb: 2', /f\.yaml:3: a second document/],
    ['unknown anchors', 'a: *nope', /unknown anchor \*nope/],
    ['aliases of themselves', 'a: &a [*a]', /contains itself/],
    ['mappings as keys', '? {a: 1}\n: 2', /a key must be a scalar/],
    ['merging a scalar', 'a: &x 1\nb: {<<: *x}', /<< needs a mapping/],
    ['deep nesting, flow', '['.repeat(9_000), /nested more than 64 levels/],
    ['deep nesting behind comments', '[ # ]\n'.repeat(1_900), /nested more than 64 levels/],
    ['deep nesting, block', '- '.repeat(4_900), /nested more than 64 levels/],
    [
      'an alias bomb',
      `a0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
      /more than 10000 values/,
    ],
  ] as const) {
    test(name, () => expect(refusal(() => parse(text))).toMatch(says))
  }
})

/** As long as asked for, cut off wherever that is. */
const full = (text: string, bytes: number): string =>
  text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)

/** What made the library work for seconds, or could: each at the size that a manifest may have, and far beyond it. */
const hostile: Readonly<Record<string, (bytes: number) => string>> = {
  'closing brackets': (n) => full(']', n),
  'closing brackets, one a line': (n) => full(']\n', n),
  'an open list': (n) => `[${full('1,', n)}`,
  'an open mapping': (n) => `{${full('a: 1, ', n)}`,
  'opening brackets': (n) => full('[', n),
  'nested lists': (n) => full('- ', n),
  'keys of keys': (n) => full('? ', n),
  colons: (n) => full(': ', n),
  documents: (n) => full('---\na\n', n),
  'ends of documents': (n) => full('...\n', n),
  aliases: (n) => `a: &x 1\nb:\n${full('- *x\n', n)}`,
  'an alias bomb': (n) =>
    `a0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}\n${full('#\n', n)}`,
  'a wide mapping': (n) => Array.from({ length: n / 10 }, (_, i) => `k${i}: 1`).join('\n'),
  'merge keys': (n) =>
    `a: &x {b: 1}\n${Array.from({ length: n / 16 }, (_, i) => `k${i}: {<<: *x}`).join('\n')}`,
  'a long key': (n) => `? "${full('k', n)}"\n: 1`,
  tags: (n) => full('- !!str a\n', n),
  'unknown tags': (n) => full('- !a b\n', n),
  'tags of nothing': (n) => full('!a ', n),
  anchors: (n) => full('&a ', n),
  quotes: (n) => full("''\n", n),
  comments: (n) => full('#\n', n),
  'empty lines': (n) => full('\n', n),
  'line ends of another system': (n) => full('\r', n),
  directives: (n) => full('%YAML 1.2\n', n),
  'a block of short lines': (n) => `a: |\n${full(' x\n', n)}`,
  'folded lines': (n) => `a: >\n${full(' x\n\n', n)}`,
  'a plain text of short lines': (n) => `a: ${full('x\n  ', n)}`,
  escapes: (n) => `"${full('\\n', n)}"`,
}

describe('a file of any content is read or refused within 100 ms, so that nothing else waits for it', () => {
  const KiB = 1024
  /** Without what other programs took; up to three times, for the rest of a busy machine. */
  const isQuick = (run: () => unknown): boolean =>
    [1, 2, 3].some(() => {
      const [from, waited] = [performance.now(), processorWaitMs('self')]
      refusal(run)
      return performance.now() - from - (processorWaitMs('self') - waited) < 100
    })

  for (const [name, make] of Object.entries(hostile))
    for (const size of [200 * KiB, 3 * 1024 * KiB])
      test(`${name}, ${size / KiB} KiB`, () => {
        const bytes = new TextEncoder().encode(make(size))
        expect(isQuick(() => readManifest({ path: 'f.yaml', bytes }))).toBe(true)
      })

  test('a full file of sound content too', () => {
    const pod = (i: number): string => `- name: c${i}\n  image: registry.example/app:${i}\n  tty: true\n`
    const text = Array.from({ length: 390 }, (_, i) => pod(i)).join('')
    expect(refusal(() => parse(text))).toBe('accepted')
    expect(isQuick(() => parse(text))).toBe(true)
  })

  test('what ends it is named with its line', () => {
    const line = (text: string): string =>
      refusal(() => readManifest({ path: 'f.yaml', bytes: encode(text) }))
    expect(line(full(']', 200 * KiB))).toMatch(/^yaml\.invalid parse f\.yaml:1: Unexpected/)
    expect(line(`a: 1\n${full(']', 200 * KiB)}`)).toMatch(/f\.yaml:2: /)
    expect(line(full('- 1\n', 100 * KiB))).toMatch(/f\.yaml:2000: more than 10000 tokens; split the file/)
    expect(line(full('--- 1\n', 8 * KiB))).toMatch(/f\.yaml:1001: more than 1000 documents; split the file/)
    expect(line(full(']', 400 * KiB))).toMatch(/^input\.too-large read f\.yaml: /)
  })

  test('documents share the values that aliases may make', () => {
    const bomb = `a: &a [${'x,'.repeat(90)}]\nb: [${'*a,'.repeat(90)}]\n`
    expect(refusal(() => readManifest({ path: 'f.yaml', bytes: encode(bomb) }))).toBe('accepted')
    expect(refusal(() => readManifest({ path: 'f.yaml', bytes: encode(`${bomb}---\n${bomb}`) }))).toMatch(
      /more than 10000 values/,
    )
  })

  test('commands, which serve nobody meanwhile, take more', () => {
    const bytes = encode(Array.from({ length: 5_000 }, (_, i) => `k${i}: 1`).join('\n'))
    expect(refusal(() => readManifest({ path: 'f.yaml', bytes }))).toMatch(/tokens/)
    expect(readManifest({ path: 'f.yaml', bytes }, commandManifestLimits)).toHaveLength(1)
  })

  test('errors that come later have their stacks', () => {
    refusal(() => parse('a: [1'))
    expect(new Error('x').stack).toMatch(/parse-yaml\.test/)
  })
})

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('bytes', () => {
  test('text is text, a byte order mark is none', () => {
    expect(decodeText({ path: 'f', bytes: encode('\ufeffa: é') })).toBe('a: é')
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
