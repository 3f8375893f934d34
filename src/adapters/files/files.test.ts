import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { filesContract } from '../../../test/contracts/files.js'
import type { FileEntry } from '../../ports/files.js'
import { createFiles } from './files.js'

const files = createFiles()
let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-files-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

filesContract('files on disk', () => {
  const own = mkdtempSync(join(tmpdir(), 'keelson-files-'))
  return {
    files,
    dir: own,
    makeDirectory: (path) => mkdirSync(path, { recursive: true }),
    removeDirectory: (path) => rmSync(path, { recursive: true }),
    close: () => rmSync(own, { recursive: true }),
  }
})

describe('replace', () => {
  test('makes a new file with its mode and leaves no temporary one', async () => {
    await files.replace(join(dir, 'a'), 'one', { mode: 0o640 })
    expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('one')
    expect(statSync(join(dir, 'a')).mode & 0o777).toBe(0o640)
    expect(readdirSync(dir)).toEqual(['a'])
  })

  test('keeps mode, owner and link of what is there', async () => {
    writeFileSync(join(dir, 'real'), 'one')
    chmodSync(join(dir, 'real'), 0o604)
    const root = process.getuid?.() === 0
    if (root) chownSync(join(dir, 'real'), 1234, 4321)
    symlinkSync('real', join(dir, 'link'))
    await files.replace(join(dir, 'link'), new TextEncoder().encode('two'))
    expect(readFileSync(join(dir, 'real'), 'utf8')).toBe('two')
    const { mode, uid, gid } = statSync(join(dir, 'real'))
    expect(mode & 0o777).toBe(0o604)
    if (root) expect([uid, gid]).toEqual([1234, 4321])
    expect(readdirSync(dir)).toEqual(['link', 'real'])
  })

  test('a reader never sees a part, whatever the number of writers', async () => {
    const path = join(dir, 'a')
    const versions = Array.from({ length: 20 }, (_, i) => String(i).repeat(200_000))
    await files.replace(path, versions[0] ?? '')
    const seen = new Set<string>()
    let writing = true
    const reader = (async () => {
      while (writing) seen.add(new TextDecoder().decode(await files.read(path, 1e6)))
    })()
    await Promise.all(versions.map((text) => files.replace(path, text)))
    writing = false
    await reader
    expect([...seen].filter((text) => !versions.includes(text))).toEqual([])
  })

  test('a failure leaves the old content and no temporary file', async () => {
    mkdirSync(join(dir, 'a'))
    await expect(files.replace(join(dir, 'a'), 'x')).rejects.toMatchObject({ code: 'file.write-failed' })
    await expect(files.replace(join(dir, 'no/such'), 'x')).rejects.toMatchObject({
      code: 'file.write-failed',
    })
    expect(readdirSync(dir)).toEqual(['a'])
  })
})

describe('read and remove', () => {
  test('bounded, with absence as a value', async () => {
    writeFileSync(join(dir, 'a'), 'x'.repeat(100))
    expect((await files.read(join(dir, 'a'), 100))?.length).toBe(100)
    await expect(files.read(join(dir, 'a'), 99)).rejects.toMatchObject({ code: 'input.too-large' })
    expect(await files.read(join(dir, 'none'), 10)).toBeUndefined()
    expect(await files.read(join(dir, 'a/b'), 10)).toBeUndefined()
    await expect(files.read(dir, 10)).rejects.toMatchObject({ code: 'input.unreadable' })
    expect((await files.read('/proc/self/status', 1e6))?.length).toBeGreaterThan(100)
    await expect(files.read('/dev/zero', 1e6)).rejects.toMatchObject({ code: 'input.too-large' })
    await files.remove(join(dir, 'a'))
    await files.remove(join(dir, 'a'))
    expect(readdirSync(dir)).toEqual([])
  })
})

describe('list', () => {
  test('files in lexical order per directory, by suffix, with links followed', async () => {
    for (const name of ['b.conf', 'B.conf', 'a.txt', 'z/c.conf', 'c/a.conf']) {
      mkdirSync(join(dir, name, '..'), { recursive: true })
      writeFileSync(join(dir, name), name)
    }
    symlinkSync('b.conf', join(dir, 'l.conf'))
    symlinkSync('nowhere', join(dir, 'dangling.conf'))
    writeFileSync(join(dir, '.b.conf.0123456789ab.tmp'), 'half')
    const names = async (options: object) => (await files.list(dir, options))?.map((f) => f.name)
    expect(await names({})).toEqual(['B.conf', 'a.txt', 'b.conf', 'l.conf'])
    expect(await names({ recursive: true, suffix: '.conf' })).toEqual([
      'B.conf',
      'b.conf',
      'c/a.conf',
      'l.conf',
      'z/c.conf',
    ])
    await expect(files.list(dir, { maxEntries: 2 })).rejects.toMatchObject({ code: 'input.too-large' })
    expect(await files.list(join(dir, 'none'))).toBeUndefined()
  })
})

test('list: a file that cannot be looked at is not a file that has gone', async () => {
  writeFileSync(join(dir, 'a.yaml'), 'x')
  symlinkSync('nowhere', join(dir, 'dangling.yaml'))
  // The kernel follows it and gives up: ELOOP, as EIO and ESTALE an error that says nothing of the file.
  symlinkSync('loop.yaml', join(dir, 'loop.yaml'))
  const found = await files.list(dir)
  expect(found?.map((e) => [e.name, e.unreadable === undefined])).toEqual([
    ['a.yaml', true],
    ['loop.yaml', false],
  ])
  expect(found?.[1]?.unreadable).toContain('ELOOP')
})

describe('watch', () => {
  /** The listings as they come, with a deadline on each. */
  function follow(directory: string, options: object = {}) {
    const stop = new AbortController()
    const iterator = files
      .watch(directory, { signal: stop.signal, settleMs: 40, ...options })
      [Symbol.asyncIterator]()
    const next = async (): Promise<string[] | 'end' | 'late'> => {
      const late = new Promise<'late'>((resolve) => setTimeout(resolve, 5_000, 'late').unref())
      const result = await Promise.race([iterator.next(), late])
      if (result === 'late') return result
      return result.done ? 'end' : result.value.map((f: FileEntry) => f.name)
    }
    return { stop, next }
  }

  test('tells of creation, change, rename and removal without waiting for the rescan', async () => {
    const { stop, next } = follow(dir)
    expect(await next()).toEqual([])
    writeFileSync(join(dir, 'a'), '1')
    expect(await next()).toEqual(['a'])
    writeFileSync(join(dir, 'a'), '22')
    expect(await next()).toEqual(['a'])
    renameSync(join(dir, 'a'), join(dir, 'b'))
    expect(await next()).toEqual(['b'])
    rmSync(join(dir, 'b'))
    expect(await next()).toEqual([])
    stop.abort()
    expect(await next()).toBe('end')
  })

  test('a directory that comes, goes and comes again', async () => {
    const inner = join(dir, 'x/manifests')
    const { stop, next } = follow(inner)
    expect(await next()).toEqual([])
    for (let round = 0; round < 3; round++) {
      mkdirSync(inner, { recursive: true })
      writeFileSync(join(inner, `a${round}`), '1')
      expect(await next()).toEqual([`a${round}`])
      rmSync(round === 1 ? join(dir, 'x') : inner, { recursive: true })
      expect(await next()).toEqual([])
    }
    stop.abort()
    expect(await next()).toBe('end')
  })

  test('a file that was removed and written again is told from one that was replaced', async () => {
    const stop = new AbortController()
    const listings = files.watch(dir, { signal: stop.signal, settleMs: 40 })[Symbol.asyncIterator]()
    const next = async () => {
      const { value } = await listings.next()
      return value?.map(({ name, recreated }: FileEntry) => [name, recreated === true])
    }
    const file = join(dir, 'a')
    writeFileSync(file, '1')
    expect(await next()).toEqual([['a', false]])
    rmSync(file)
    writeFileSync(file, '1')
    expect(await next()).toEqual([['a', true]])
    writeFileSync(`${file}.new`, '1')
    renameSync(`${file}.new`, file)
    expect(await next()).toEqual([['a', false]])
    renameSync(file, `${file}.old`)
    renameSync(`${file}.old`, file)
    expect(await next()).toEqual([['a', true]])
    stop.abort()
  })

  test('the rescan finds what no notice told', async () => {
    mkdirSync(join(dir, 'below'))
    const { stop, next } = follow(dir, { recursive: true, rescanMs: 50 })
    expect(await next()).toEqual([])
    // Notices come for the directory itself only.
    writeFileSync(join(dir, 'below/a'), '1')
    expect(await next()).toEqual(['below/a'])
    stop.abort()
    expect(await next()).toBe('end')
  })
})
