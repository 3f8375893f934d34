import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { keepCounts, parseShard, splitParts, totalOf } from './lab-shards.mjs'

const root = resolve(import.meta.dirname, '..')
const seconds = JSON.parse(readFileSync(join(root, 'test/lab/seconds.json'), 'utf8')) as Record<
  string,
  number
>
const parts = readdirSync(join(root, 'test/lab'))
  .filter((f) => f.endsWith('.lab.ts'))
  .map((f) => f.replace('.lab.ts', ''))

test('--shard is read, and what is none is refused', () => {
  expect(parseShard('2/3')).toEqual({ shard: 2, of: 3 })
  for (const text of ['0/3', '4/3', '1', '1/0', 'a/b', '1/3/2', '', undefined])
    expect(parseShard(text), text).toBeUndefined()
})

describe('the lab in three shards', () => {
  const shards = splitParts(parts, seconds, 3)

  test('every part is in one of them', () => {
    expect(shards.flatMap((s) => s.parts).sort()).toEqual([...parts].sort())
  })

  test('each takes less than 30 minutes, and none much longer than another', () => {
    const times = shards.map((s) => s.seconds)
    expect(Math.max(...times)).toBeLessThan(30 * 60)
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(5 * 60)
  })

  test('parts that were measured are there', () => {
    expect(Object.keys(seconds).filter((part) => !parts.includes(part))).toEqual([])
  })
})

test('one shard has everything, in order; more shards than parts leave some empty', () => {
  expect(splitParts(['b', 'a'], { a: 1 }, 1)[0]?.parts).toEqual(['a', 'b'])
  expect(splitParts(['a'], {}, 2).map((s) => s.parts)).toEqual([['a'], []])
})

describe('the total', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-shards-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const counts = { passed: 10, failed: 0, skipped: 1, seconds: { a: 5 } }

  test('names what is still to run, then adds up; another commit begins anew', () => {
    keepCounts(folder, { shard: 1, of: 2 }, 'one', counts)
    expect(totalOf(folder, { shard: 1, of: 2 }, 'one')).toEqual({
      text: 'so far 10 passed, 0 failed, 1 skipped; still to run: --shard 2/2',
    })
    keepCounts(folder, { shard: 2, of: 2 }, 'one', { ...counts, failed: 3, seconds: { b: 7 } })
    expect(totalOf(folder, { shard: 2, of: 2 }, 'one')).toEqual({
      text: 'all 2 shards: 20 passed, 3 failed, 2 skipped',
      seconds: { a: 5, b: 7 },
    })
    keepCounts(folder, { shard: 2, of: 2 }, 'two', counts)
    expect(totalOf(folder, { shard: 2, of: 2 }, 'two').text).toContain('still to run: --shard 1/2')
  })
})
