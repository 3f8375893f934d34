import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../test/support/property.js'
import { parseTarget } from './target.js'

const segments = (raw: string): readonly string[] | undefined => {
  const parsed = parseTarget(raw)
  return parsed.kind === 'target' ? parsed.target.segments : undefined
}

describe('parseTarget', () => {
  test.each([
    ['/', []],
    ['/healthz', ['healthz']],
    ['/runningpods/', ['runningpods']],
    ['/stats/summary?only_cpu_and_memory=true', ['stats', 'summary']],
    ['/containerLogs/kube-system/etcd-a.b/etcd', ['containerLogs', 'kube-system', 'etcd-a.b', 'etcd']],
    ['/logs/a%20b', ['logs', 'a b']],
    ['/logs/%C3%A9', ['logs', 'é']],
    ['/logs/...', ['logs', '...']],
  ])('%s', (raw, expected) => expect(segments(raw)).toEqual(expected))

  test.each([
    '',
    '*',
    'healthz',
    '//',
    '//healthz',
    '/a//b',
    '/a/./b',
    '/a/../b',
    '/..',
    '/%2e%2e/b',
    '/.%2E/b',
    '/a%2fb',
    '/a%5cb',
    '/a\\b',
    '/a%00b',
    '/a%7fb',
    '/%68ealthz',
    '/a%25b',
    '/a%',
    '/a%zz',
    '/%ff',
    '/%c0%ae',
    '/é',
    '/a#b',
    '/a b',
    'http://host/healthz',
    `/${'a'.repeat(513)}`,
    `/${'a/'.repeat(17)}`,
  ])('refuses %j', (raw) => expect(segments(raw)).toBeUndefined())

  test('a path has one spelling: two accepted targets of one meaning differ in the query or the last slash only', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '.',
      '..',
      '',
      '%61',
      '%2e',
      '%2F',
      '%20',
      'é',
      '%C3%A9',
      '\\',
      '%5C',
    )
    const path = fc.array(part, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
    assertProperty(
      fc.property(path, path, (one, two) => {
        const [a, b] = [segments(one), segments(two)]
        if (a === undefined || b === undefined || a.join('/') !== b.join('/')) return
        const bare = (s: string): string => s.replace(/\/$/, '')
        expect(bare(one)).toBe(bare(two))
      }),
      { numRuns: 3000 },
    )
  })
})
