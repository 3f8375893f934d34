// Each reason not to start, met by the real command: a machine that lacks something is made with a mount namespace of its own.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requireDisk } from '../../src/cli/up/facts.js'
import { takeLock } from '../../src/cli/up/lock.js'
import { needsOf } from '../../src/lab/packages.js'
import { type Bundle, bundleCommand, freePorts } from '../support/command.js'
import { requires } from '../support/requirements.js'

const needs = { root: true, packages: [...needsOf('uml', true), 'disk' as const] }
let bundle: Bundle
let dir: string

beforeAll(async () => {
  bundle = await bundleCommand()
  dir = mkdtempSync(join(tmpdir(), 'keelson-up-messages-'))
})
afterAll(async () => {
  rmSync(dir, { recursive: true })
  await bundle.remove()
})

/** `before`: shell commands in a mount namespace that ends with the command. */
function up(before: readonly string[], node: readonly string[] = [], as: readonly string[] = []) {
  const script = [...before, 'exec "$@"'].join(' && ')
  const argv = ['-m', 'sh', '-c', script, 'sh', ...as, process.execPath, ...node, bundle.main, 'up']
  const ran = spawnSync('unshare', argv, {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: dir },
    timeout: 60_000,
  })
  return { status: ran.status, said: ran.stderr.trim().split('\n') }
}

/** Without its package the kernel of the lab is not there. */
const noKernel = 'mount --bind /dev/null /usr/bin/linux.uml'
const noApt = 'mount --bind /dev/null "$(command -v apt-get)"'
/** A user without rights, but one that can read this test's files. */
const nobody = [
  'setpriv',
  '--reuid=65534',
  '--regid=65534',
  '--clear-groups',
  '--inh-caps=+dac_read_search,+dac_override',
  '--ambient-caps=+dac_read_search,+dac_override',
  '--bounding-set=-all,+dac_read_search,+dac_override',
]

test('a comparison of page caches needs a disk', async (ctx) => {
  requires(ctx, { root: true })
  await expect(requireDisk('/dev/shm')).rejects.toThrow(/it is in memory \(tmpfs\); set TMPDIR/)
  await requireDisk(import.meta.dirname)
})

describe('one clear message', () => {
  for (const { name, before, node, as, says } of [
    {
      name: 'without root',
      before: [noKernel],
      as: nobody,
      says: /user-mode-linux must be installed first, which needs root: sudo apt-get install .*user-mode-linux \[up\.missing\]$/,
    },
    {
      name: 'without apt',
      before: [noKernel, noApt],
      says: /no apt-get to install them: user-mode-linux .*package manager \[up\.missing\]$/,
    },
    {
      name: 'an unsupported architecture',
      before: [],
      node: ['--import', 'data:text/javascript,Object.defineProperty(process,"arch",{value:"riscv64"})'],
      says: /for x86-64 and this machine is riscv64.*--no-demo \[up\.unsupported\]$/,
    },
    {
      name: 'no free disk',
      before: ['mount -t tmpfs -o size=4m tmpfs "$TMPDIR"'],
      says: /has 4 MiB free and 500 MiB are needed; free space.*\[up\.no-space\]$/,
    },
  ] as {
    name: string
    before: string[]
    node?: string[]
    as?: string[]
    says: RegExp
  }[])
    test(name, (ctx) => {
      requires(ctx, needs)
      const { status, said } = up(before, node, as)
      expect(said).toHaveLength(1)
      expect(said[0]).toMatch(says)
      expect(status).toBe(1)
    })

  /** In a terminal of its own, without a machine that lacks anything. */
  const plainUp = (...flags: readonly string[]) =>
    spawnSync(process.execPath, [bundle.main, 'up', ...flags], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: dir },
      timeout: 60_000,
    })

  test('the port is taken', async (ctx) => {
    requires(ctx, needs)
    const [port = 0] = await freePorts(1)
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    try {
      const ran = plainUp('--on', 'lab', '--port', String(port))
      expect(ran.stderr.trim()).toMatch(
        new RegExp(
          `^keelson: use port ${port} of 127.0.0.1: .*EADDRINUSE.*choose another with --port \\[up\\.port\\]$`,
        ),
      )
      expect(ran.status).toBe(1)
    } finally {
      server.close()
    }
  })

  test('a second one is told of the first, not of the port that the first one has', async (ctx) => {
    requires(ctx, needs)
    const [port = 0] = await freePorts(1)
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    const lock = await takeLock(async () => {}, join(dir, `keelson-up-${process.getuid?.() ?? 0}`))
    try {
      const ran = plainUp('--on', 'lab', '--port', String(port))
      expect(ran.stderr.trim()).toMatch(
        /^keelson: keelson up is already running as process \d+; .*\[up\.busy\]$/,
      )
    } finally {
      await lock.release()
      server.close()
    }
  })

  test('a machine with too little memory is refused with the least that works, and no stack', (ctx) => {
    requires(ctx, needs)
    const ran = plainUp('--on', 'lab', '--memory', '64')
    expect(ran.stderr.trim()).toMatch(
      /^keelson: option '--memory <MiB>' argument '64' is invalid\. use whole MiB, at least 512.*\[usage\.invalid\]$/,
    )
    expect(ran.status).toBe(2)
  })

  for (const { name, make, flags, says } of [
    {
      name: 'that is not there',
      make: () => 'none.tar',
      says: /none\.tar: ENOENT.*; create one with `docker save/,
    },
    { name: 'that is a directory', make: () => '.', says: /: it is not a file; create one/ },
    {
      name: 'that is no archive',
      make: (file: string) => writeFileSync(join(dir, file), 'x'.repeat(2000)),
      says: /it is not a tar archive; unpack a compressed one.*; create one/,
    },
    {
      name: 'that is compressed, which containerd does not read',
      make: (file: string) => spawnSync('tar', ['-C', '/etc', '-czf', join(dir, file), 'hostname']),
      says: /unpack a compressed one first \(gunzip\); create one/,
    },
    {
      name: 'without an image',
      make: (file: string) => spawnSync('tar', ['-C', '/etc', '-cf', join(dir, file), 'hostname']),
      says: /it has no image \(neither manifest\.json nor index\.json/,
    },
    {
      name: 'for a runtime that stays',
      make: () => undefined,
      flags: ['--runtime-endpoint', 'unix:///run/x.sock'],
      says: /^keelson: --image-tar loads into the private containerd.*ctr --namespace k8s\.io images import FILE \[usage/,
    },
  ] as {
    name: string
    make: (file: string) => unknown
    flags?: string[]
    says: RegExp
  }[])
    test(`--image-tar ${name}: told before anything is started`, (ctx) => {
      requires(ctx, needs)
      const made = make('given.tar')
      const file = join(dir, typeof made === 'string' ? made : 'given.tar')
      const ran = plainUp(...(flags ?? ['--on', 'lab']), '--image-tar', file)
      expect(ran.stderr.trim()).toMatch(says)
      expect(ran.status).toBe(2)
      expect(ran.stdout).not.toMatch(/booting/)
    })
})
