// Files that a container can replace: nothing is waited for and nothing is followed.
import { execFileSync } from 'node:child_process'
import { constants, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPodHost } from '../pods/pod-host.js'
import { createLogTail } from './log-tail.js'
import { inDirectory, openRegular } from './open-regular.js'

let dir = ''
let log = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-open-'))
  mkdirSync(join(dir, 'pod/app'), { recursive: true })
  log = join(dir, 'pod/app/0.log')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const host = createPodHost()

/** Ended by the time, so that a hang is a failure and not the end of the run. */
const soon = <T>(work: Promise<T>): Promise<T | 'still waiting'> =>
  Promise.race([
    work,
    new Promise<'still waiting'>((r) => setTimeout(() => r('still waiting'), 2_000).unref()),
  ])

test('a FIFO in place of a log or a termination message is an error at once, and takes no thread', async () => {
  execFileSync('mkfifo', [log])
  try {
    const failed = /not a regular file/
    for (let i = 0; i < 8; i += 1) {
      await expect(soon(host.readAt(log, 0, 10))).rejects.toThrow(failed)
      await expect(soon(host.openLog(log))).rejects.toThrow(failed)
      await expect(soon(createLogTail().read(log, 10))).rejects.toThrow(failed)
    }
    // Nobody reads it: a write would wait for ever too.
    await expect(soon(host.ensureFile(log, 0o644))).rejects.toThrow(/ENXIO/)
    await expect(soon(host.writeFile(log, 'x', 0o644))).rejects.toThrow(/ENXIO/)
  } finally {
    // Where the old code waits, this lets it go.
    execFileSync('sh', ['-c', `timeout 1 sh -c 'exec 3<>"$0"; sleep 0.2' "$0"`, log])
  }
})

test.each(['file', 'container directory', 'pod directory'])(
  'a link in place of the %s is not followed',
  async (what) => {
    const secret = join(dir, 'secret')
    mkdirSync(join(secret, 'app'), { recursive: true })
    for (const file of ['0.log', 'app/0.log']) writeFileSync(join(secret, file), 'x stdout F secret\n')
    const place =
      { file: log, 'container directory': join(dir, 'pod/app'), 'pod directory': join(dir, 'pod') }[what] ??
      ''
    rmSync(place, { recursive: true, force: true })
    symlinkSync(what === 'file' ? join(secret, '0.log') : secret, place)
    await expect(host.readAt(log, 0, 10)).rejects.toThrow(/ELOOP|is a link/)
    await expect(createLogTail().read(log, 10)).rejects.toThrow(/ELOOP|is a link/)
  },
)

test('directories and files that are not there are told apart', async () => {
  await expect(openRegular(join(dir, 'pod'))).rejects.toMatchObject({ code: 'EINVAL' })
  expect(await host.readAt(log, 0, 10)).toBeUndefined()
  expect(await host.readAt(join(dir, 'none/app/0.log'), 0, 10)).toBeUndefined()
  await expect(inDirectory(`${dir}/pod/..`, 1, async () => undefined)).rejects.toMatchObject({
    code: 'EINVAL',
  })
})

test('a link above the directories of the pod is followed: the administrator made it', async () => {
  writeFileSync(log, 'hello')
  symlinkSync(dir, `${dir}-link`)
  try {
    const piece = await host.readAt(`${dir}-link/pod/app/0.log`, 1, 3)
    expect([String(piece?.bytes), piece?.size]).toEqual(['ell', 5])
  } finally {
    rmSync(`${dir}-link`)
  }
})

test('a file that is made has its mode', async () => {
  const { O_WRONLY, O_CREAT } = constants
  const handle = await openRegular(log, { flags: O_WRONLY | O_CREAT, mode: 0o600, plainParents: 2 })
  expect((await handle.stat()).mode & 0o777).toBe(0o600)
  await handle.close()
})
