// Small files that containers write, on disk: no link leads out, and nothing is waited for.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBelow } from './read-at.js'

let top = ''
let volume = ''
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'keelson-read-'))
  volume = join(top, 'volume')
  mkdirSync(join(volume, 'd/e'), { recursive: true })
  mkdirSync(join(top, 'outside'))
  writeFileSync(join(top, 'outside/env'), 'secret')
  writeFileSync(join(volume, 'd/e/env'), 'mine')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const read = async (path: string, limit = 100): Promise<string | undefined> => {
  const bytes = await readBelow(volume, path, limit)
  return bytes === undefined ? undefined : Buffer.from(bytes).toString()
}

test('a file in directories of the volume', async () => {
  expect(await read('d/e/env')).toBe('mine')
  expect(await read('./d//e/env')).toBe('mine')
  expect(await read('d/none')).toBeUndefined()
})

test('a link is not followed, as the file nor as a directory on the way', async () => {
  symlinkSync(join(top, 'outside/env'), join(volume, 'link'))
  symlinkSync(join(top, 'outside'), join(volume, 'd/out'))
  await expect(read('link')).rejects.toMatchObject({ code: 'input.unreadable' })
  await expect(read('d/out/env')).rejects.toMatchObject({ code: 'input.unreadable' })
  await expect(read('d/../../outside/env')).rejects.toMatchObject({ code: 'input.unreadable' })
})

test('a directory, a pipe and a large file are errors', async () => {
  execFileSync('mkfifo', [join(volume, 'pipe')])
  for (const path of ['d', 'pipe'])
    await expect(read(path)).rejects.toMatchObject({ code: 'input.unreadable' })
  await expect(read('d/e/env', 3)).rejects.toMatchObject({ code: 'input.unreadable' })
})
