// Log files on disk: compressed whole or not at all, and never outside the container's directory.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compressLog, listLogs, logSize, moveLog, removeLog } from './container-logs.js'

let top = ''
let dir = ''
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'keelson-logs-'))
  dir = join(top, 'pod/app')
  mkdirSync(dir, { recursive: true })
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

test('a rotated file becomes a gzip file with the same lines and mode', async () => {
  const text = 'a line of a log\n'.repeat(200_000)
  writeFileSync(join(dir, 'a'), text, { mode: 0o640 })
  writeFileSync(join(dir, 'a.tmp'), 'left by a crash')
  await compressLog(dir, 'a')
  expect(readdirSync(dir)).toEqual(['a.gz'])
  expect(gunzipSync(readFileSync(join(dir, 'a.gz'))).toString() === text).toBe(true)
  expect(statSync(join(dir, 'a.gz')).mode & 0o777).toBe(0o640)
})

test('a compression that fails leaves the plain file and nothing unfinished', async () => {
  writeFileSync(join(dir, 'a'), 'text')
  mkdirSync(join(dir, 'a.gz/full'), { recursive: true })
  await expect(compressLog(dir, 'a')).rejects.toMatchObject({ code: 'file.write-failed' })
  expect(readdirSync(dir)).toEqual(['a', 'a.gz'])
})

test('a move never replaces a file', async () => {
  writeFileSync(join(dir, 'a'), 'one')
  writeFileSync(join(dir, 'b'), 'two')
  await expect(moveLog(dir, 'a', 'b')).rejects.toThrow(/exists already/)
  await moveLog(dir, 'a', 'c')
  expect(readdirSync(dir)).toEqual(['b', 'c'])
})

test('a container directory that became a link to another place is not touched', async () => {
  const other = join(top, 'other')
  mkdirSync(other)
  writeFileSync(join(other, '0.log'), 'of somebody else')
  rmSync(dir, { recursive: true })
  symlinkSync(other, dir)
  await expect(listLogs(dir)).rejects.toMatchObject({ code: 'input.unreadable' })
  const changes = [
    () => moveLog(dir, '0.log', '0.log.1'),
    () => removeLog(dir, '0.log'),
    () => compressLog(dir, '0.log'),
  ]
  // One after the other: a promise that fails while another is awaited counts as unhandled.
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'file.write-failed' })
  expect(readdirSync(other)).toEqual(['0.log'])
})

test('a link in place of a rotated file is neither read nor followed', async () => {
  writeFileSync(join(top, 'secret'), 'secret')
  symlinkSync(join(top, 'secret'), join(dir, 'a'))
  await expect(compressLog(dir, 'a')).rejects.toThrow(/ELOOP/)
  expect(await logSize(join(dir, 'a'))).toBeUndefined()
  expect(await logSize(join(top, 'secret'))).toBe(6)
  expect(await listLogs(dir)).toEqual([expect.objectContaining({ name: 'a', isFile: false })])
  await removeLog(dir, 'a')
  expect(readFileSync(join(top, 'secret'), 'utf8')).toBe('secret')
})

test('what is not there: no list, and nothing to remove', async () => {
  expect(await listLogs(join(top, 'none/app'))).toBeUndefined()
  await removeLog(dir, 'none')
  await removeLog(join(top, 'none/app'), 'none')
})
