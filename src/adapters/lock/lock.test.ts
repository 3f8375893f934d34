// The lock with real processes: killed, stopped, in another pid namespace, many at one moment, on a full file system.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { createNodeFiles } from '../node-root/node-files.js'
import { takeLock } from './lock.js'
import { parseListening, takeOldFile, takeOldName } from './version-0-1.js'

const here = dirname(fileURLToPath(import.meta.url))
const busy = (pid: number): Error => new Error(`held by ${pid}`)

let base: string
let program: string
let dir: string
const children: ChildProcess[] = []

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'keelson-lock-'))
  chmodSync(base, 0o755)
  program = join(base, 'hold.mjs')
  await build({
    stdin: {
      resolveDir: here,
      loader: 'ts',
      contents: `import { takeLock } from './lock.js'
        const busy = (pid) => new Error('held by ' + pid)
        takeLock(process.argv[2], busy).then(
          () => { console.log('holds'); setInterval(() => {}, 1000) },
          (e) => { console.log(e.message) })`,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: program,
  })
  chmodSync(program, 0o755)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

beforeEach(() => {
  dir = mkdtempSync(join(base, 'd-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
})

function start(
  path: string,
  wrapper: readonly string[] = [],
): { child: ChildProcess; said: Promise<string> } {
  const [command = '', ...args] = [...wrapper, process.execPath, program, path]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const said = new Promise<string>((resolve) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
    child.once('close', () => resolve('ended'))
  })
  return { child, said }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

describe('takeLock', () => {
  test('is held once, within a process too, and nothing is left of it', async () => {
    const lock = await takeLock(join(dir, 'x.lock'), busy)
    await expect(takeLock(join(dir, 'x.lock'), busy)).rejects.toThrow(`held by ${process.pid}`)
    await (await takeLock(join(dir, 'other.lock'), busy)).release()
    await lock.release()
    await (await takeLock(join(dir, 'x.lock'), busy)).release()
    expect(readdirSync(dir)).toEqual([])
  })

  test('a holder that was killed holds nothing, one that stands still does', async () => {
    const path = join(dir, 'x.lock')
    const { child, said } = start(path)
    expect(await said).toBe('holds')
    child.kill('SIGSTOP')
    await expect(takeLock(path, busy)).rejects.toThrow(`held by ${child.pid}`)
    await end(child, 'SIGKILL')
    expect(readdirSync(dir)).toHaveLength(1)
    const lock = await takeLock(path, busy)
    await lock.release()
    expect(readdirSync(dir)).toEqual([])
  })

  test('of many that start at one moment beside a dead holder exactly one gets it', async () => {
    const path = join(dir, 'x.lock')
    const first = start(path)
    expect(await first.said).toBe('holds')
    await end(first.child, 'SIGKILL')
    const started = Array.from({ length: 6 }, () => start(path))
    const said = await Promise.all(started.map((s) => s.said))
    expect(said.filter((s) => s === 'holds')).toHaveLength(1)
    expect(said.filter((s) => s.startsWith('held by'))).toHaveLength(5)
  }, 20_000)

  test('in one process, too, many at one moment are one holder after the other', async () => {
    let inside = 0
    let most = 0
    let got = 0
    const work = async (): Promise<void> => {
      const lock = await takeLock(join(dir, 'x.lock'), busy).catch(() => undefined)
      if (lock === undefined) return
      got++
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setTimeout(resolve, 2))
      inside--
      await lock.release()
    }
    await Promise.all(Array.from({ length: 20 }, work))
    expect(most).toBe(1)
    expect(got).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual([])
  })

  test('a directory deeper than a socket address is long', async () => {
    const deep = join(dir, 'a'.repeat(120), 'b'.repeat(120))
    mkdirSync(deep, { recursive: true })
    const lock = await takeLock(join(deep, 'x.lock'), busy)
    await expect(takeLock(join(deep, 'x.lock'), busy)).rejects.toThrow('held by')
    await lock.release()
  })

  test('a holder in another pid namespace, as in a pod, is not taken for dead', async (ctx) => {
    requires(ctx, { root: true, commands: ['unshare'] })
    const path = join(dir, 'x.lock')
    const { child, said } = start(path, [
      'unshare',
      '--pid',
      '--net',
      '--fork',
      '--kill-child',
      '--mount-proc',
    ])
    expect(await said).toBe('holds')
    await expect(takeLock(path, busy)).rejects.toThrow('held by 1')
    await end(child, 'SIGKILL')
    const free = async (): Promise<string> => {
      await (await takeLock(path, busy)).release()
      return 'free'
    }
    await expect.poll(free).toBe('free')
  })

  test('a user who listens beside it in a directory that everybody may write blocks nobody', async (ctx) => {
    requires(ctx, { root: true, commands: ['setpriv'] })
    chmodSync(dir, 0o1777)
    const path = join(dir, 'x.lock')
    const { said } = start(path, ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'])
    expect(await said).toBe('holds')
    await (await takeLock(path, busy)).release()
  })
})

describe('a full file system', () => {
  test('leaves nothing behind, neither without room nor without inodes', async (ctx) => {
    requires(ctx, { root: true, commands: ['mount'] })
    for (const options of ['size=64k', 'nr_inodes=3']) {
      const full = join(dir, options.replace('=', '-'))
      mkdirSync(full)
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', full])
      try {
        expect(() => {
          for (let i = 0; ; i++) writeFileSync(join(full, `fill${i}`), Buffer.alloc(4096, 1))
        }).toThrow(/ENOSPC/)
        const before = readdirSync(full)
        await expect(createNodeFiles(full).lock('/node.lock')).rejects.toThrow(/no space left/)
        expect(readdirSync(full)).toEqual(before)
      } finally {
        execFileSync('umount', [full])
      }
    }
  })
})

describe('beside version 0.1', () => {
  test('its file names a living process: busy; a dead one: taken over', async () => {
    const file = join(dir, 'node.lock')
    writeFileSync(file, `${process.ppid} 0`)
    await expect(takeOldFile(file, busy)).rejects.toThrow(`held by ${process.ppid}`)
    writeFileSync(file, `${process.ppid} 0 another-boot:1`)
    await (await takeOldFile(file, busy)).release()
    // One that was killed, or had no room left, before it took its own name away.
    writeFileSync(`${file}.4194399.1`, '')
    await (await takeOldFile(file, busy)).release()
    expect(readdirSync(dir)).toEqual([])
  })

  test('its name is taken by ourselves: busy', async () => {
    const held = await takeOldName(`test ${dir}`, busy)
    expect(held).toBeDefined()
    await expect(takeOldName(`test ${dir}`, busy)).rejects.toThrow(`held by ${process.pid}`)
    await held?.release()
  })

  test('its name was squatted by a user: nobody is blocked', async (ctx) => {
    requires(ctx, { root: true, commands: ['setpriv'] })
    const name = `keelson-${createHash('sha256').update(`test ${dir}`).digest('hex').slice(0, 32)}`
    const squatter = spawn(
      'setpriv',
      [
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        process.execPath,
        '-e',
        `const { createServer } = require('node:net')
         createServer().listen('\\0${name}', () => console.log('squats'))`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    children.push(squatter)
    await once(squatter.stdout, 'data')
    expect(await takeOldName(`test ${dir}`, busy)).toBeUndefined()
  })

  test('parseListening: by name, only listeners, and lines that a user made up are seen as a second one', () => {
    const line = (flags: string, inode: string, path: string) =>
      `ffff0000: 00000002 00000000 ${flags} 0001 01 ${inode} ${path}`
    const text = [
      'Num       RefCount Protocol Flags    Type St Inode Path',
      line('00010000', '11', '@keelson-a@@@@@'),
      line('00000000', '12', '@keelson-a@@@@@'),
      line('00010000', '13', '@keelson-ab'),
      line('00010000', '14', '/run/x.sock'),
    ]
    expect(parseListening(text.join('\n'), '@keelson-a')).toEqual(['11'])
    const forged = line('00010000', '15', `@x\n${line('00010000', '1', '@keelson-a')}`)
    expect(parseListening([...text, forged].join('\n'), '@keelson-a')).toEqual(['11', '1'])
  })
})
