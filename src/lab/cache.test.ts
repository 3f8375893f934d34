import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, test } from 'vitest'
import { takeLock } from '../adapters/lock/lock.js'
import { type CachedPart, cacheDirectory, ensurePart, partPath } from './cache.js'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-cache-test-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const never = new AbortController().signal

const counted = (recipe: string): { part: CachedPart; built: () => number } => {
  let built = 0
  const part: CachedPart = {
    name: 'part',
    recipe,
    async build(target) {
      built++
      await sleep(50)
      await writeFile(join(target, 'content'), recipe)
    },
  }
  return { part, built: () => built }
}

for (const { name, env, expected } of [
  { name: 'named', env: { KEELSON_LAB_CACHE: '/c', XDG_CACHE_HOME: '/x', HOME: '/h' }, expected: '/c' },
  { name: 'XDG', env: { XDG_CACHE_HOME: '/x', HOME: '/h' }, expected: '/x/keelson' },
  { name: 'home', env: { HOME: '/h' }, expected: '/h/.cache/keelson' },
  { name: 'no home', env: { HOME: '/' }, expected: '/var/cache/keelson' },
])
  test(`cacheDirectory: ${name}`, () => assert.equal(cacheDirectory(env), expected))

test('ensurePart: four at once make it once', async () => {
  const { part, built } = counted('a')
  const paths = await Promise.all([1, 2, 3, 4].map(() => ensurePart(dir, part, never)))
  assert.deepEqual([...new Set(paths)], [partPath(dir, part)])
  assert.equal(built(), 1)
  assert.equal(readFileSync(join(paths[0] ?? '', 'content'), 'utf8'), 'a')
  assert.equal(readdirSync(dir).length, 1)
})

test('ensurePart: what it says fits a part with a plural name, as images', async () => {
  const said: string[] = []
  await ensurePart(dir, { ...counted('a').part, name: 'images' }, never, (text) => said.push(text))
  assert.deepEqual(
    said.map((text) => text.replace(/[\d.]+ s$/, '0.1 s').replace(dir, 'DIR')),
    ['building images (once, cached in DIR)', 'built images in 0.1 s'],
  )
})

test('ensurePart: another recipe is another part', async () => {
  assert.notEqual(
    await ensurePart(dir, counted('a').part, never),
    await ensurePart(dir, counted('b').part, never),
  )
})

test('ensurePart: a failed build leaves nothing and the next one starts over', async () => {
  const broken: CachedPart = { ...counted('a').part, build: () => Promise.reject(new Error('no network')) }
  await assert.rejects(ensurePart(dir, broken, never), /no network/)
  assert.deepEqual(readdirSync(dir), [])
  const { part, built } = counted('a')
  await ensurePart(dir, part, never)
  assert.equal(built(), 1)
})

test('ensurePart: a part without its manifest is made again', async () => {
  const { part, built } = counted('a')
  const path = await ensurePart(dir, part, never)
  rmSync(join(path, '.manifest.json'))
  await ensurePart(dir, part, never)
  assert.equal(built(), 2)
})

test('ensurePart: the lock of a process that died is free', async () => {
  const { part, built } = counted('a')
  const socket = `${partPath(dir, part)}.lock.held-1-00`
  const script = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`
  assert.equal(spawnSync(process.execPath, ['-e', script]).signal, 'SIGKILL')
  assert.equal(existsSync(socket), true)
  await ensurePart(dir, part, never)
  assert.equal(built(), 1)
  assert.equal(existsSync(socket), false)
})

test('ensurePart: waiting for the lock of a living process ends with the signal, and its part is made after it', async () => {
  const { part, built } = counted('a')
  const lock = await takeLock(`${partPath(dir, part)}.lock`, () => new Error('busy'))
  await assert.rejects(ensurePart(dir, part, AbortSignal.timeout(300)), { name: 'AbortError' })
  assert.equal(built(), 0)
  const made = ensurePart(dir, part, never)
  await lock.release()
  await made
  assert.equal(built(), 1)
})
