// Volumes on the real kernel: files that change all at once, groups and modes, parts of volumes that cannot be led out.
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import type { ProjectedFile } from '../../ports/pods/volume-host.js'
import { createVolumeHost } from './volume-host.js'

const host = createVolumeHost()
let dir = ''
let volume = ''
const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .filter((point) => point.startsWith(`${dir}/`))

beforeEach((ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-volumes-')))
  volume = join(dir, 'volume')
  mkdirSync(volume)
  chmodSync(volume, 0o777)
})
afterEach(() => {
  if (dir === '') return
  for (const point of mounts().toReversed()) execFileSync('umount', ['-l', point])
  rmSync(dir, { recursive: true, force: true })
})

const file = (path: string, text: string, mode = 0o644, owner?: number): ProjectedFile => ({
  path,
  data: Buffer.from(text),
  mode,
  owner,
})
const read = (path: string): string => readFileSync(join(volume, path), 'utf8')
const modeOf = (path: string): number => statSync(join(volume, path)).mode & 0o7777

describe('files of a volume', () => {
  test('have the layout that tools know: a time, ..data, one link for each name', async () => {
    expect(await host.writeFiles(volume, [file('key', 'v'), file('sub/deep', 'd', 0o400)], undefined)).toBe(
      true,
    )
    const time = readlinkSync(join(volume, '..data'))
    expect(time).toMatch(/^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+$/)
    expect(readlinkSync(join(volume, 'key'))).toBe('..data/key')
    expect(readlinkSync(join(volume, 'sub'))).toBe('..data/sub')
    expect(readdirSync(volume).sort()).toEqual(['..data', time, 'key', 'sub'].sort())
    expect([read('key'), read('sub/deep')]).toEqual(['v', 'd'])
    expect([modeOf(time), modeOf('key'), modeOf('sub/deep')]).toEqual([0o755, 0o644, 0o400])
  })

  test('modes are exact whatever the umask, and the owner is set', async () => {
    const before = process.umask(0o077)
    try {
      await host.writeFiles(volume, [file('key', 'v', 0o777, 1234)], undefined)
    } finally {
      process.umask(before)
    }
    expect(modeOf('key')).toBe(0o777)
    expect(modeOf('..data')).toBe(0o755)
    expect(statSync(join(volume, 'key')).uid).toBe(1234)
  })

  test('the same content is not written again; other content replaces all of it', async () => {
    await host.writeFiles(volume, [file('a', '1'), file('b', '1')], undefined)
    const first = readlinkSync(join(volume, '..data'))
    expect(await host.writeFiles(volume, [file('a', '1'), file('b', '1')], undefined)).toBe(false)
    expect(readlinkSync(join(volume, '..data'))).toBe(first)
    expect(await host.writeFiles(volume, [file('a', '2'), file('c', '2')], undefined)).toBe(true)
    expect(existsSync(join(volume, first))).toBe(false)
    expect(
      readdirSync(volume)
        .filter((name) => !name.startsWith('..'))
        .sort(),
    ).toEqual(['a', 'c'])
    expect(read('a')).toBe('2')
    expect(await host.writeFiles(volume, [], undefined)).toBe(true)
    expect(readdirSync(volume)).toHaveLength(2)
  })

  test('a reader that follows ..data never sees two versions mixed', async () => {
    const versions = Array.from({ length: 60 }, (_, n) => [
      file('a', `${n}`.repeat(500)),
      file('b', `${n}`.repeat(500)),
    ])
    const script = `const fs=require('fs');let n=0;const end=Date.now()+1500;while(Date.now()<end){
      try{const d=fs.readlinkSync('..data');const a=fs.readFileSync(d+'/a','utf8'),b=fs.readFileSync(d+'/b','utf8');
      if(a!==b){console.log('mixed');process.exit(1)} n++}catch(e){if(e.code!=='ENOENT')throw e}} console.log(n)`
    await host.writeFiles(volume, versions[0] ?? [], undefined)
    const reader = spawn(process.execPath, ['-e', script], { cwd: volume })
    let out = ''
    reader.stdout.on('data', (part) => {
      out += String(part)
    })
    const ended = new Promise<number | null>((resolve) => reader.on('close', resolve))
    for (const version of versions) await host.writeFiles(volume, version, undefined)
    expect(await ended).toBe(0)
    expect(Number(out)).toBeGreaterThan(0)
  })

  test('what an ended process left behind is cleared away', async () => {
    await host.writeFiles(volume, [file('a', '1')], undefined)
    mkdirSync(join(volume, '..2020_01_01_00_00_00.1'))
    symlinkSync('nowhere', join(volume, '..data_tmp'))
    await host.writeFiles(volume, [file('a', '2')], undefined)
    expect(readdirSync(volume)).toHaveLength(3)
  })

  test('a full tmpfs: the old files stay, and nothing half-written is left', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', volume])
    await host.writeFiles(volume, [file('a', 'old')], undefined)
    await expect(host.writeFiles(volume, [file('a', 'x'.repeat(200_000))], undefined)).rejects.toThrow(
      'ENOSPC',
    )
    expect(read('a')).toBe('old')
    expect(readdirSync(volume)).toHaveLength(3)
    await host.writeFiles(volume, [file('a', 'new')], undefined)
    expect(read('a')).toBe('new')
  })

  test('500 keys and a value of 1 MiB', async () => {
    const many = Array.from({ length: 500 }, (_, n) => file(`${'k'.repeat(249)}.${n}`, `${n}`))
    await host.writeFiles(volume, [...many, file('big', 'x'.repeat(1024 * 1024))], undefined)
    expect(readdirSync(volume)).toHaveLength(503)
    expect(read('big')).toHaveLength(1024 * 1024)
  })

  test('..data that leads out of the volume is replaced, and what it leads to stays', async () => {
    mkdirSync(join(dir, 'victim'))
    writeFileSync(join(dir, 'victim/kept'), 'x')
    symlinkSync('../victim', join(volume, '..data'))
    await host.writeFiles(volume, [file('a', '1')], undefined)
    expect(read('a')).toBe('1')
    expect(readdirSync(join(dir, 'victim'))).toEqual(['kept'])
  })
})

describe('group of a volume', () => {
  test('files are readable or writable for it, directories pass it on, links are not followed', async () => {
    mkdirSync(join(volume, 'sub'), { mode: 0o700 })
    writeFileSync(join(volume, 'sub/file'), 'x', { mode: 0o600 })
    writeFileSync(join(dir, 'outside'), 'x', { mode: 0o600 })
    symlinkSync('../outside', join(volume, 'link'))
    execFileSync('mkfifo', ['-m', '600', join(volume, 'fifo')])
    await host.setGroup(volume, { gid: 4321, readOnly: false })
    expect([modeOf(''), modeOf('sub'), modeOf('sub/file'), modeOf('fifo')]).toEqual([
      0o2777, 0o2770, 0o660, 0o660,
    ])
    for (const path of ['', 'sub', 'sub/file', 'fifo', 'link'])
      expect(lstatSync(join(volume, path)).gid, path).toBe(4321)
    const outside = statSync(join(dir, 'outside'))
    expect([outside.gid, outside.mode & 0o777]).toEqual([0, 0o600])
  })

  test('for reading only, as with secrets', async () => {
    await host.writeFiles(volume, [file('token', 't', 0o600)], { gid: 4321, readOnly: true })
    expect(modeOf('token')).toBe(0o640)
    expect(statSync(join(volume, 'token')).gid).toBe(4321)
    expect(modeOf('..data')).toBe(0o2755)
  })

  test('another mount inside is left alone', async () => {
    const inner = join(volume, 'inner')
    mkdirSync(inner)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=700', 'tmpfs', inner])
    await host.setGroup(volume, { gid: 4321, readOnly: false })
    expect([statSync(inner).gid, modeOf('inner')]).toEqual([0, 0o700])
  })

  test('OnRootMismatch: a volume whose top is right is not walked', async () => {
    writeFileSync(join(volume, 'file'), 'x')
    const options = { gid: 4321, readOnly: false, onlyOnRootMismatch: true }
    await host.setGroup(volume, options)
    lchownSync(join(volume, 'file'), 0, 7)
    await host.setGroup(volume, options)
    expect(statSync(join(volume, 'file')).gid).toBe(7)
  })
})

describe('a part of a volume', () => {
  const target = (): string => join(dir, 'volume-subpaths/v/c/0')
  const prepare = (subPath: string): Promise<void> =>
    host.prepareSubPath({ volumePath: volume, subPath, target: target() })

  test('is made with the mode of the volume, and mounted', async () => {
    chmodSync(volume, 0o2770)
    await prepare('a/b')
    expect([modeOf('a'), modeOf('a/b')]).toEqual([0o2770, 0o2770])
    writeFileSync(join(target(), 'seen'), 'x')
    expect(existsSync(join(volume, 'a/b/seen'))).toBe(true)
    await prepare('a/b')
    expect(mounts()).toEqual([target()])
  })

  test('can be a file, also one behind the links of a written volume; a new version takes its place', async () => {
    await host.writeFiles(volume, [file('key', 'one')], undefined)
    await prepare('key')
    expect(readFileSync(target(), 'utf8')).toBe('one')
    await host.writeFiles(volume, [file('key', 'two')], undefined)
    await prepare('key')
    expect(readFileSync(target(), 'utf8')).toBe('two')
    expect(mounts()).toEqual([target()])
  })

  for (const { name, make, subPath } of [
    { name: 'a link out of it', make: () => symlinkSync('/etc', join(volume, 'out')), subPath: 'out' },
    { name: 'a link out on the way', make: () => symlinkSync('/', join(volume, 'out')), subPath: 'out/etc' },
    {
      name: 'a relative link out',
      make: () => symlinkSync('../secret', join(volume, 'out')),
      subPath: 'out',
    },
    {
      name: 'what would be made behind a link',
      make: () => symlinkSync('..', join(volume, 'out')),
      subPath: 'out/new',
    },
    {
      name: 'a link to nothing',
      make: () => symlinkSync('/nowhere/at/all', join(volume, 'out')),
      subPath: 'out',
    },
    { name: '..', make: () => undefined, subPath: 'a/../../secret' },
  ])
    test(`never ${name}`, async () => {
      mkdirSync(join(dir, 'secret'))
      make()
      await expect(prepare(subPath)).rejects.toMatchObject({ code: 'file.write-failed' })
      expect(mounts()).toEqual([])
      expect(readdirSync(dir).sort()).toEqual(['secret', 'volume'])
    })

  test('never what a process puts there while it is prepared', async () => {
    mkdirSync(join(dir, 'secret'))
    writeFileSync(join(dir, 'secret/leaked'), 'x')
    const script = `const fs=require('fs');for(;;){try{fs.mkdirSync('swap')}catch{};try{fs.rmdirSync('swap')}catch{};
      try{fs.symlinkSync('../secret','swap')}catch{};try{fs.unlinkSync('swap')}catch{}}`
    const swapper = spawn(process.execPath, ['-e', script], { cwd: volume })
    let prepared = 0
    try {
      for (let n = 0; n < 100; n += 1) {
        const place = join(dir, `volume-subpaths/v/c/${n}`)
        const done = await host.prepareSubPath({ volumePath: volume, subPath: 'swap', target: place }).then(
          () => true,
          () => false,
        )
        if (!done) continue
        prepared += 1
        expect(readdirSync(place)).not.toContain('leaked')
        execFileSync('umount', [place])
      }
    } finally {
      swapper.kill('SIGKILL')
    }
    expect(prepared).toBeGreaterThan(0)
  })
})

test('a volume in memory has its size, a second mount changes nothing', async () => {
  expect(await host.mountTmpfs(volume, 1024n * 1024n)).toBe(true)
  writeFileSync(join(volume, 'kept'), 'x')
  expect(await host.mountTmpfs(volume, 1024n * 1024n)).toBe(false)
  expect(existsSync(join(volume, 'kept'))).toBe(true)
  expect(() => writeFileSync(join(volume, 'large'), Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC')
})

test('a directory behind a link is found among the mounts', async () => {
  symlinkSync(volume, join(dir, 'link'))
  mkdirSync(join(volume, 'v'))
  expect(await host.mountTmpfs(join(dir, 'link/v'), undefined)).toBe(true)
  expect(await host.mountTmpfs(join(dir, 'link/v'), undefined)).toBe(false)
})
