// Runtimes that misbehave, and sockets that are no runtime: each call ends inside its deadline with the right
// error, and the same client works again as soon as the runtime does.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isKeelsonError, type KeelsonError } from '../../../core/errors.js'
import type { VersionResponse } from '../../../cri-api/api.js'
import type { Said } from '../../../fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../../fakes/cri/fake-runtime.js'
import { frame } from '../../../fakes/cri/play.js'
import type { CriClient } from '../../../ports/runtime.js'
import { createCriClient } from './client.js'

const MiB = 1024 * 1024
const good = { value: { runtimeName: 'good' } } as const
/** What a busy machine may add to a deadline. */
const slackMs = 5000

async function failure(call: Promise<unknown>, timeoutMs: number): Promise<KeelsonError> {
  const begin = performance.now()
  try {
    await call
  } catch (e) {
    expect(performance.now() - begin).toBeLessThan(timeoutMs + slackMs)
    if (isKeelsonError(e)) return e
    throw e
  }
  return expect.unreachable()
}

describe('a runtime that fails', () => {
  let rt: FakeRuntime
  let cri: CriClient
  beforeAll(async () => {
    rt = await startFakeRuntime()
    cri = createCriClient(rt.endpoint)
  })
  afterAll(async () => {
    cri.close()
    await rt.close()
  })

  const rows: {
    name: string
    said: Said<VersionResponse>
    code: string
    grpcCode: string
    timeoutMs?: number
  }[] = [
    {
      name: 'hangs',
      said: { hang: true },
      code: 'runtime.deadline',
      grpcCode: 'DEADLINE_EXCEEDED',
      timeoutMs: 200,
    },
    {
      name: 'hangs after the headers',
      said: { hang: 'after-headers' },
      code: 'runtime.deadline',
      grpcCode: 'DEADLINE_EXCEEDED',
      timeoutMs: 200,
    },
    {
      name: 'is too slow',
      said: { ...good, delayMs: 1000 },
      code: 'runtime.deadline',
      grpcCode: 'DEADLINE_EXCEEDED',
      timeoutMs: 200,
    },
    {
      name: 'drops the connection before the answer',
      said: { drop: 'before-headers' },
      code: 'runtime.unavailable',
      grpcCode: 'UNAVAILABLE',
    },
    {
      name: 'drops the connection in mid-answer',
      said: { ...good, drop: 'mid-answer' },
      code: 'runtime.unavailable',
      grpcCode: 'UNAVAILABLE',
    },
    { name: 'resets the stream', said: { reset: 2 }, code: 'runtime.unavailable', grpcCode: 'INTERNAL' },
    { name: 'refuses the stream', said: { reset: 7 }, code: 'runtime.unavailable', grpcCode: 'UNAVAILABLE' },
    {
      name: 'sends garbage as a message',
      said: { bytes: Buffer.alloc(64, 0xff) },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    {
      name: 'sends zeros as a message',
      said: { bytes: Buffer.alloc(64) },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    {
      name: 'sends text where a frame should be',
      said: { body: Buffer.from('<html>502</html>') },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    {
      name: 'sends a part of a frame and says OK',
      said: { body: frame(Buffer.alloc(50)).subarray(0, 20) },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    {
      name: 'says OK and nothing else',
      said: { body: Buffer.alloc(0) },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    {
      name: 'marks a plain message as compressed',
      said: { body: Buffer.from([1, 0, 0, 0, 1, 0]) },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    {
      name: 'sends two messages for one call',
      said: { body: Buffer.alloc(10) },
      code: 'runtime.malformed',
      grpcCode: 'INTERNAL',
    },
    { name: 'is a web server', said: { http: 404 }, code: 'runtime.socket', grpcCode: 'INTERNAL' },
    {
      name: 'sends 64 MiB',
      said: { bytes: Buffer.alloc(64 * MiB) },
      code: 'runtime.too-large',
      grpcCode: 'RESOURCE_EXHAUSTED',
    },
    {
      name: 'does not know the call',
      said: { code: 'UNIMPLEMENTED' },
      code: 'runtime.unimplemented',
      grpcCode: 'UNIMPLEMENTED',
    },
    {
      name: 'does not find it',
      said: { code: 'NOT_FOUND' },
      code: 'runtime.not-found',
      grpcCode: 'NOT_FOUND',
    },
    {
      name: 'says it is unavailable',
      said: { code: 'UNAVAILABLE' },
      code: 'runtime.unavailable',
      grpcCode: 'UNAVAILABLE',
    },
    {
      name: 'reports its own deadline',
      said: { code: 'DEADLINE_EXCEEDED', message: 'context deadline exceeded' },
      code: 'runtime.deadline',
      grpcCode: 'DEADLINE_EXCEEDED',
    },
    {
      name: 'fails',
      said: { code: 'UNKNOWN', message: 'boom' },
      code: 'runtime.failed',
      grpcCode: 'UNKNOWN',
    },
  ]
  for (const { name, said, code, grpcCode, timeoutMs = 5000 } of rows)
    test(`${name}: ${code}, and the next call works`, async () => {
      rt.script('Version', [said, good])
      const e = await failure(cri.runtime.version({}, { timeoutMs }), timeoutMs)
      expect(e).toMatchObject({ code, details: { method: 'Version', socket: rt.socketPath, grpcCode } })
      expect(e.message).toContain(`call Version at ${rt.socketPath}: ${grpcCode}: `)
      expect((await cri.runtime.version({}, { timeoutMs: 5000 })).runtimeName).toBe('good')
    })

  test('64 MiB arrive where the limit was raised', async () => {
    const name = 'n'.repeat(64 * MiB)
    rt.script('Version', { value: { runtimeName: name } })
    const large = createCriClient(rt.endpoint, { maxReceiveBytes: 65 * MiB })
    const answer = await large.runtime.version({}, { timeoutMs: 20_000 })
    large.close()
    expect(answer.runtimeName === name).toBe(true)
  })

  test('a stream that is dropped in the middle ends in an error, never as complete', async () => {
    rt.script('StreamContainers', { values: [{ containers: [{ id: 'a' }] }], ending: 'drop' })
    let seen = 0
    const read = async (): Promise<void> => {
      for await (const part of cri.runtime.streamContainers({}, { timeoutMs: 5000 }))
        seen += part.containers.length
    }
    expect((await failure(read(), 5000)).code).toBe('runtime.unavailable')
    expect(seen).toBe(1)
  })
})

describe('a runtime that restarts', () => {
  test('the same client works again, at once or after the bounded wait', async () => {
    const rt = await startFakeRuntime({ Version: good, ExecSync: { hang: true } })
    const cri = createCriClient(rt.endpoint, { timeoutMs: 5000 })
    await cri.runtime.version({})
    const lost = cri.runtime.execSync({})
    await expect.poll(() => rt.callsOf('ExecSync').length).toBe(1)
    await rt.stop()
    expect((await failure(lost, 0)).code).toBe('runtime.unavailable')
    const away = await failure(cri.runtime.version({}), 0)
    expect(away).toMatchObject({ code: 'runtime.unavailable' })
    expect(away.message).toMatch(/UNAVAILABLE: connect ENOENT .*no such socket/)
    const waited = await failure(cri.runtime.version({}, { timeoutMs: 300, waitForReady: true }), 300)
    expect(waited).toMatchObject({ code: 'runtime.deadline' })
    expect(waited.message).toContain('was unreachable until the deadline')
    await rt.start()
    const begin = performance.now()
    // Without waitForReady calls fail at once until the backoff has run out: three seconds at most.
    await expect
      .poll(
        async () =>
          await cri.runtime.version({}).then(
            (v) => v.runtimeName,
            () => 'away',
          ),
        { timeout: 15_000 },
      )
      .toBe('good')
    expect(performance.now() - begin).toBeLessThan(3000 * 1.2 + slackMs)
    cri.close()
    await rt.close()
  })
})

describe('a path that is no runtime', () => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-wrong-'))
  const servers: Server[] = []
  const clients: CriClient[] = []
  afterEach(() => {
    for (const c of clients.splice(0)) c.close()
    for (const s of servers.splice(0)) s.close()
  })
  afterAll(() => rmSync(dir, { recursive: true }))

  async function listen(name: string, onSocket: (s: Socket) => void): Promise<string> {
    const server = createServer((s) => {
      s.on('error', () => {})
      onSocket(s)
    })
    servers.push(server)
    const path = join(dir, name)
    await new Promise<void>((resolve) => server.listen(path, resolve))
    return path
  }
  async function tryPath(path: string, timeoutMs = 5000): Promise<KeelsonError> {
    const cri = createCriClient(`unix://${path}`)
    clients.push(cri)
    return await failure(cri.runtime.version({}, { timeoutMs }), timeoutMs)
  }

  test('no such path', async () => {
    const e = await tryPath(join(dir, 'none.sock'))
    expect(e).toMatchObject({ code: 'runtime.unavailable', details: { grpcCode: 'UNAVAILABLE' } })
    expect(e.message).toContain('no such socket')
  })

  test('a regular file', async () => {
    writeFileSync(join(dir, 'file'), '')
    const e = await tryPath(join(dir, 'file'))
    expect(e.code).toBe('runtime.socket')
    expect(e.message).toContain('not a socket')
  })

  test('a directory', async () => {
    expect((await tryPath(dir)).code).toBe('runtime.socket')
  })

  test('a path below a file', async () => {
    writeFileSync(join(dir, 'file'), '')
    expect((await tryPath(join(dir, 'file', 'x.sock'))).code).toBe('runtime.socket')
  })

  test('a socket whose process was killed', async () => {
    const path = join(dir, 'stale.sock')
    const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    spawnSync(process.execPath, ['-e', script])
    const e = await tryPath(path)
    expect(e.code).toBe('runtime.unavailable')
    expect(e.message).toContain('nothing listens')
  })

  test('a server of HTTP/1', async () => {
    const path = await listen('http1.sock', (s) => s.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const e = await tryPath(path)
    expect(e.code).toBe('runtime.socket')
    expect(e.message).toContain('does not speak gRPC')
  })

  test('a server of noise', async () => {
    const path = await listen('noise.sock', (s) => s.write(Buffer.alloc(100, 0xff)))
    expect((await tryPath(path)).code).toBe('runtime.socket')
  })

  test('a server that closes at once', async () => {
    const path = await listen('closer.sock', (s) => s.destroy())
    expect((await tryPath(path)).code).toBe('runtime.unavailable')
  })

  test('a server that stays silent', async () => {
    const sockets: Socket[] = []
    const path = await listen('silent.sock', (s) => sockets.push(s))
    const e = await tryPath(path, 300)
    expect(e.code).toBe('runtime.deadline')
    expect(e.message).toContain('sends nothing')
    for (const s of sockets) s.destroy()
  })

  test('a socket without permission', async () => {
    const rt = await startFakeRuntime({ Version: good }, { socketPath: join(dir, 'closed.sock'), mode: 0 })
    const root = process.geteuid?.() === 0
    try {
      if (root) process.seteuid?.(65534) // nobody: root may open everything
      const e = await tryPath(rt.socketPath)
      expect(e.code).toBe('runtime.socket')
      expect(e.message).toMatch(/connect EACCES .*run as root/)
    } finally {
      if (root) process.seteuid?.(0)
      await rt.close()
    }
  })
})
