import { linkSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createStatsFiles } from './stats-files.js'

const files = createStatsFiles()
let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'keelson-stats-files-'))
})
afterEach(() => rmSync(root, { recursive: true }))

test('counts space and inodes, hard links once, and follows no link', async () => {
  mkdirSync(join(root, 'a/b'), { recursive: true })
  writeFileSync(join(root, 'a/one'), Buffer.alloc(100_000, 1))
  linkSync(join(root, 'a/one'), join(root, 'a/b/again'))
  symlinkSync('/', join(root, 'a/b/out'))
  const usage = await files.usage(join(root, 'a'), { maxEntries: 100 })
  // a, b, one file under two names, one link.
  expect(usage).toMatchObject({ inodes: 4n, complete: true })
  expect(usage?.bytes).toBeGreaterThanOrEqual(100_000n)
  expect(usage?.bytes).toBeLessThan(200_000n)
  const flat = await files.usage(join(root, 'a'), { maxEntries: 100, recursive: false })
  expect(flat).toMatchObject({ inodes: 1n, complete: true })
})

test("rotated and compressed logs count in a container's log usage", async () => {
  for (const name of ['0.log', '0.log.20260102-030405', '0.log.20260101-030405.gz'])
    writeFileSync(join(root, name), Buffer.alloc(50_000, 1))
  const usage = await files.usage(root, { maxEntries: 100, recursive: false })
  expect(usage?.inodes).toBe(3n)
  expect(usage?.bytes).toBeGreaterThanOrEqual(150_000n)
})

test('stops at its bound and says so', async () => {
  for (let i = 0; i < 20; i++) writeFileSync(join(root, String(i)), 'x')
  expect(await files.usage(root, { maxEntries: 10 })).toMatchObject({ complete: false })
})

test('knows the filesystem below a path, and what is not there', async () => {
  const capacity = await files.capacity(root)
  expect(capacity?.capacityBytes).toBeGreaterThan(0n)
  expect(capacity?.device).not.toBe('')
  expect(await files.capacity(join(root, 'none'))).toBeUndefined()
  expect(await files.usage(join(root, 'none'), { maxEntries: 1 })).toBeUndefined()
  expect(await files.directories(join(root, 'none'))).toBeUndefined()
  mkdirSync(join(root, 'd'))
  writeFileSync(join(root, 'f'), '')
  expect(await files.directories(root)).toEqual(['d'])
})

test('the list of mounts, long on a node with pods, is read once for a path that stays on its device', async () => {
  const list = join(root, 'mountinfo')
  const { dev } = statSync(root, { bigint: true })
  const numbers = `${((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)}:${(dev & 0xffn) | ((dev >> 12n) & ~0xffn)}`
  writeFileSync(list, `21 1 ${numbers} / / rw - ext4 /dev/disk rw\n`)
  const node = createStatsFiles(list)
  expect((await node.capacity(root))?.device).toBe('/dev/disk')
  rmSync(list)
  expect((await node.capacity(root))?.device).toBe('/dev/disk')
  await expect(node.capacity('/proc')).rejects.toThrow('mountinfo')
})
