// YAML the way Kubernetes reads it, and hostile YAML.
import { expect, test } from 'vitest'
import { formatYaml, isSameValue, parseYamlDocuments, parseYamlMap } from './yaml-text.js'

test('1.1 words are truth values, dates and base 60 stay text, big integers stay exact', () => {
  expect(
    parseYamlMap('a: yes\nb: 2024-01-01\nc: 1:30\ny: n\nd: 9223372036854775807\ne: 0755\n', 'x'),
  ).toEqual({
    a: true,
    b: '2024-01-01',
    c: '1:30',
    y: false,
    d: 9223372036854775807n,
    e: 493,
  })
})

test('what is written reads back the same, with text that looks like something else quoted', () => {
  const value = {
    on: 'on',
    n: '1.0',
    t: 'yes',
    d: '0755',
    e: '',
    big: 9223372036854775807n,
    l: [{ k: null }],
  }
  expect(isSameValue(parseYamlMap(formatYaml(value), 'x'), value)).toBe(true)
})

test('an alias bomb, endless nesting and a bad byte are errors with the name of the text', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((k, i) => `${k}: &${k} [${Array(9).fill(`*${'abcdefg'[i]}`)}]`).join('\n')}\n`
  for (const text of [bomb, '['.repeat(20_000), 'a: *nope\n', 'a: "\\q"\n', '\t- x'])
    expect(() => parseYamlDocuments(text, 'this text')).toThrow(/this text/)
})
