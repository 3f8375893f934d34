// Which files a rotation removes, compresses and makes.
import { describe, expect, test } from 'vitest'
import { isFileOfLog, type LogFile, planLogRotation } from './log-rotation.js'

const now = BigInt(Date.UTC(2026, 0, 2, 3, 4, 5)) * 1_000_000n
const file = (name: string, size = 1): LogFile => ({ name, size, isFile: true })
const plan = (names: readonly (string | LogFile)[], maxFiles = 5) =>
  planLogRotation(
    '0.log',
    names.map((n) => (typeof n === 'string' ? file(n) : n)),
    { maxSize: 100n, maxFiles },
    now,
  )

describe('whether', () => {
  test.each([
    ['below the size', [file('0.log', 99)], 'none'],
    ['at the size', [file('0.log', 100)], 'rotate'],
    ['no file', ['1.log'], 'missing'],
    ['a link or a FIFO', [{ name: '0.log', size: 1000, isFile: false }], 'replaced'],
  ])('%s', (_, files, kind) => expect(plan(files).kind).toBe(kind))
})

const current = file('0.log', 100)
const at = (hour: number): string => `0.log.20260101-${String(hour).padStart(2, '0')}0000`

describe('what', () => {
  test('the first rotation', () =>
    expect(plan([current])).toEqual({
      kind: 'rotate',
      remove: [],
      compress: [],
      to: '0.log.20260102-030405',
    }))

  test('the newest of the rotated files is compressed by the next rotation', () =>
    expect(plan([`${at(1)}.gz`, current, at(2)])).toMatchObject({ remove: [], compress: [at(2)] }))

  test('never more than maxFiles, the current one and the new one included', () => {
    const gz = [1, 2, 3, 4].map((h) => `${at(h)}.gz`)
    expect(plan([current, ...gz])).toMatchObject({ remove: [gz[0]], compress: [] })
    expect(plan([at(5), ...gz.toReversed(), current], 3)).toMatchObject({ remove: gz, compress: [at(5)] })
    expect(plan([current, at(1)], 2)).toMatchObject({ remove: [at(1)], compress: [] })
  })

  test('what a compression left behind goes: its unfinished file, or the plain one beside the finished', () =>
    expect(plan([current, at(1), `${at(1)}.tmp`, at(2), `${at(2)}.gz`])).toMatchObject({
      remove: [`${at(1)}.tmp`, at(2)],
      compress: [at(1)],
    }))

  test('a clock that was set back never takes the name of an older file', () =>
    expect(plan([current, '0.log.20260102-030405', '0.log.20260102-030406.gz'])).toMatchObject({
      to: '0.log.20260102-030407',
    }))

  test('files of other instances, of other programs, links and directories are left alone', () => {
    const others = ['1.log', '10.log.20260101-010000', '0.log.1', '0.log.bak', '0.log.20260101-010000.zst']
    const link = { name: at(1), size: 5, isFile: false }
    expect(plan([current, ...others, link], 2)).toMatchObject({ remove: [], compress: [] })
    expect(others.filter((name) => isFileOfLog('0.log', name))).toEqual([])
    expect(['0.log', at(1), `${at(1)}.gz`, `${at(1)}.tmp`].every((n) => isFileOfLog('0.log', n))).toBe(true)
  })
})
