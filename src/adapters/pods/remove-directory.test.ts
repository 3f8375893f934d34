import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { createPodHost } from './pod-host.js'
import { removeDirectory } from './remove-directory.js'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-remove-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const { removeTree } = createPodHost()

/** What must still be there in the end. */
function makePrecious(): string {
  const precious = join(dir, 'precious')
  mkdirSync(precious)
  for (let i = 0; i < 200; i += 1) writeFileSync(join(precious, `file${i}`), 'x')
  return precious
}

test('a container that swaps a directory of a volume for a link while the volume is removed: nothing outside is deleted', {
  timeout: 30_000,
}, async () => {
  const precious = makePrecious()
  const volume = join(dir, 'volume')
  // The same names inside, so that a path that leads elsewhere by now finds something to delete there.
  const script = `
    const fs = require('node:fs')
    const [, volume, precious] = process.argv
    const a = volume + '/a', b = volume + '/b', link = volume + '/link'
    process.stdout.write('ready')
    for (;;) {
      try { fs.symlinkSync(precious, link) } catch {}
      try { fs.renameSync(a, b) } catch {}
      try { fs.renameSync(link, a) } catch {}
      try { fs.unlinkSync(a) } catch {}
      try { fs.renameSync(b, a) } catch {}
    }`
  const attacker = spawn(process.execPath, ['-e', script, volume, precious], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await new Promise((resolve) => attacker.stdout.once('data', resolve))
    for (let round = 0; round < 25; round += 1) {
      try {
        mkdirSync(join(volume, 'a'), { recursive: true })
      } catch {
        // The attacker has just renamed it.
      }
      for (let i = 0; i < 200; i += 1)
        try {
          writeFileSync(join(volume, 'a', `file${i}`), 'x', { flag: 'wx' })
        } catch {
          // The attacker has it under another name, or it is the precious one.
        }
      await removeTree(volume).catch(() => undefined)
      expect(readdirSync(precious), `round ${round}`).toHaveLength(200)
    }
  } finally {
    attacker.kill('SIGKILL')
  }
  await removeTree(volume)
  expect(existsSync(volume)).toBe(false)
})

test('links in the tree, and a link in its place, are removed and not followed', async () => {
  const precious = makePrecious()
  mkdirSync(join(dir, 'tree/sub'), { recursive: true })
  symlinkSync(precious, join(dir, 'tree/sub/link'))
  await removeDirectory(join(dir, 'tree'))
  symlinkSync(precious, join(dir, 'tree'))
  await removeDirectory(join(dir, 'tree'))
  expect(() => lstatSync(join(dir, 'tree'))).toThrow('ENOENT')
  expect(readdirSync(precious)).toHaveLength(200)
  await removeDirectory(join(dir, 'tree'))
  await removeDirectory(join(dir, 'no/such/parent'))
})

test('what is mounted in the tree after the mounts were looked at is not emptied', async (ctx) => {
  requires(ctx, { root: true })
  const precious = makePrecious()
  const at = join(dir, 'tree/sub/mounted')
  mkdirSync(at, { recursive: true })
  writeFileSync(join(dir, 'tree/file'), '')
  execFileSync('mount', ['--bind', precious, at])
  try {
    await expect(removeDirectory(join(dir, 'tree'))).rejects.toThrow('mounted')
    expect(readdirSync(precious)).toHaveLength(200)
  } finally {
    execFileSync('umount', [at])
  }
  await removeDirectory(join(dir, 'tree'))
  expect(existsSync(join(dir, 'tree'))).toBe(false)
})

test('names that are no text, and more levels than a path can have', async () => {
  const tree = join(dir, 'tree')
  mkdirSync(tree)
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe])]), '')
  mkdirSync(join(tree, '.keelson-removed-1', 'x'), { recursive: true })
  // 1,200 levels of 5 bytes are more than PATH_MAX: made from the inside out, in pieces.
  let inner = ''
  for (let piece = 0; piece < 6; piece += 1) {
    const top = join(dir, `piece${piece}`)
    const deep = join(top, ...Array.from({ length: 200 }, () => 'deep'))
    mkdirSync(deep, { recursive: true })
    if (inner !== '') renameSync(inner, join(deep, 'deep'))
    inner = top
  }
  renameSync(inner, join(tree, 'deep'))
  await removeDirectory(tree)
  expect(existsSync(tree)).toBe(false)
})
