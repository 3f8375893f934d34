// Mounts below the directories of pods, on the real kernel: found through links, taken away in order, never emptied.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { createVolumeHost } from '../volumes/volume-host.js'
import { removeTree } from './mounts.js'

let dir = ''
/** The root directory as the kubelet is told it: a link. */
let root = ''
const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((point) => point.startsWith(`${dir}/`))

beforeEach((ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-mounts-')))
  mkdirSync(join(dir, 'data/pods/1/volumes/v'), { recursive: true })
  symlinkSync(join(dir, 'data'), join(dir, 'root'))
  root = join(dir, 'root')
})
afterEach(() => {
  if (dir === '') return
  for (const point of mounts().toReversed()) execFileSync('umount', ['-l', point])
  rmSync(dir, { recursive: true, force: true })
})

test('a root directory behind a link: a pod with a memory volume is removed', async () => {
  await createVolumeHost().mountTmpfs(`${root}/pods/1/volumes/v`, undefined)
  await removeTree(`${root}/pods/1`)
  expect(mounts()).toEqual([])
  expect(existsSync(`${dir}/data/pods/1`)).toBe(false)
})

test('host data that is mounted below an emptyDir is never deleted, busy or not, through a link or not', async () => {
  const host = join(dir, 'host')
  mkdirSync(join(host, 'sub'), { recursive: true })
  writeFileSync(join(host, 'sub/precious'), 'data')
  const volume = `${root}/pods/1/volumes/v`
  mkdirSync(`${volume}/shared`)
  execFileSync('mount', ['--bind', host, `${volume}/shared`])
  const busy = join(dir, 'data/pods/1/volumes/v/shared/sub')
  const held = await open(busy, 'r')
  try {
    await expect(removeTree(`${root}/pods/1`)).rejects.toMatchObject({ code: 'file.write-failed' })
    expect(readFileSync(join(host, 'sub/precious'), 'utf8')).toBe('data')
  } finally {
    await held.close()
  }
  await removeTree(`${root}/pods/1`)
  expect(mounts()).toEqual([])
  expect(existsSync(`${dir}/data/pods/1`)).toBe(false)
  expect(readFileSync(join(host, 'sub/precious'), 'utf8')).toBe('data')
})

test('a link in place of the directory goes, what it leads to stays', async () => {
  mkdirSync(join(dir, 'elsewhere'))
  writeFileSync(join(dir, 'elsewhere/file'), 'x')
  symlinkSync(join(dir, 'elsewhere'), join(dir, 'data/pods/2'))
  await removeTree(`${root}/pods/2`)
  expect(existsSync(join(dir, 'data/pods/2'))).toBe(false)
  expect(existsSync(join(dir, 'elsewhere/file'))).toBe(true)
})
