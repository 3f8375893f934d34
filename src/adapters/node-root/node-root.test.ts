// The files of a node below another root: links stay inside, locks end with their holder, directories get their mode.
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseMountsBelow } from './mounts.js'
import { createNodeFiles } from './node-files.js'
import { resolveInside } from './rooted-path.js'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'keelson-root-'))
})
afterEach(async () => rm(root, { recursive: true, force: true }))

describe('resolveInside', () => {
  test('absolute links and .. stay below the root, as in a chroot', async () => {
    await mkdir(join(root, 'run/x'), { recursive: true })
    await mkdir(join(root, 'var'))
    await symlink('/run', join(root, 'var/run'))
    await symlink('../../../../../../run/x', join(root, 'var/up'))
    expect((await resolveInside(root, '/var/run/x')).outside).toBe(join(root, 'run/x'))
    expect((await resolveInside(root, '/var/up')).inside).toBe('/run/x')
    expect((await resolveInside(root, '/../../run')).inside).toBe('/run')
  })
  test('something missing behind a good link is only missing', async () => {
    await mkdir(join(root, 'data'))
    await symlink('/data', join(root, 'link'))
    expect(await resolveInside(root, '/link/new/file')).toMatchObject({
      inside: '/data/new/file',
      exists: false,
    })
  })
  test('a link to nowhere and a circle of links are refused', async () => {
    await symlink('/nowhere', join(root, 'dangling'))
    await symlink('b', join(root, 'a'))
    await symlink('a', join(root, 'b'))
    await expect(resolveInside(root, '/dangling/x')).rejects.toThrow(/dangling link/)
    await expect(resolveInside(root, '/a')).rejects.toThrow(/loop of symbolic links/)
  })
})

describe('createNodeFiles', () => {
  test('created directories have the mode whatever the umask, existing ones keep theirs', async () => {
    const files = createNodeFiles(root)
    await mkdir(join(root, 'var'), { mode: 0o755 })
    const umask = process.umask(0o077)
    try {
      expect(await files.makeDirectory('/var/lib/kubelet', 0o700)).toEqual(['/var/lib', '/var/lib/kubelet'])
      await files.write('/var/lib/kubelet/f', new TextEncoder().encode('x'), 0o644)
    } finally {
      process.umask(umask)
    }
    const mode = async (p: string) => (await stat(join(root, p))).mode & 0o777
    expect([await mode('var'), await mode('var/lib/kubelet'), await mode('var/lib/kubelet/f')]).toEqual([
      0o755, 0o700, 0o644,
    ])
  })

  test('a lock is held once, by this process or another that lives, and free when its holder is gone', async () => {
    const files = createNodeFiles(root)
    const release = await files.lock('/lock')
    await expect(files.lock('/lock')).rejects.toThrow(/another keelson node command/)
    await release()
    await writeFile(join(root, 'lock'), `${process.ppid} 0`)
    await expect(files.lock('/lock')).rejects.toThrow(new RegExp(`process ${process.ppid}`))
    // The same process id after a boot is somebody else.
    await writeFile(join(root, 'lock'), `${process.ppid} 0 another-boot:123`)
    await (await files.lock('/lock'))()
    await writeFile(join(root, 'lock'), '4194399 0')
    await (await files.lock('/lock'))()
    await expect(readFile(join(root, 'lock'))).rejects.toThrow(/ENOENT/)
  })

  test('removing a link leaves what it leads to', async () => {
    await writeFile(join(root, 'target'), 'x')
    await symlink('/target', join(root, 'link'))
    await createNodeFiles(root).remove('/link')
    expect(await readFile(join(root, 'target'), 'utf8')).toBe('x')
  })

  test('a FIFO in place of a file does not hang the command', async () => {
    const { execFileSync } = await import('node:child_process')
    execFileSync('mkfifo', [join(root, 'fifo')])
    await expect(createNodeFiles(root).read('/fifo')).rejects.toThrow(/not a regular file/)
  })
})

test('parseMountsBelow: innermost first, blanks decoded, siblings left alone', () => {
  const line = (point: string) => `36 35 98:0 / ${point} rw,noatime shared:1 - ext4 /dev/x rw`
  const text = [
    '/var/lib/kubelet',
    '/var/lib/kubelet/pods/a',
    '/var/lib/kubelet/pods/a/b\\040c',
    '/var/lib/kubelet2/x',
  ]
  expect(parseMountsBelow(text.map(line).join('\n'), '/var/lib/kubelet')).toEqual([
    '/var/lib/kubelet/pods/a/b c',
    '/var/lib/kubelet/pods/a',
  ])
})
