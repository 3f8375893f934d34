// Named pipes as far as Linux has them. Node hands a path to the system as it is; `\\.\pipe\x` is a pipe on Windows and a
// file with a strange name in the working directory here, so the whole way to the dial is the real one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isKeelsonError } from '../../core/errors.js'
import { type FakeRuntime, startFakeRuntime } from '../../fakes/cri/fake-runtime.js'
import { createCriClient } from './client/client.js'
import { parseEndpoint } from './endpoint.js'
import { startCriServer } from './server/server.js'
import { createUpstream } from './upstream/upstream.js'

const pipe = '\\\\.\\pipe\\containerd-containerd'
const canonical = 'npipe:////./pipe/containerd-containerd'

describe('spellings, on Windows', () => {
  for (const text of [
    canonical,
    'npipe://./pipe/containerd-containerd',
    'NPIPE:////./pipe/containerd-containerd',
    `npipe://${pipe}`,
    `npipe:${pipe}`,
  ])
    test(text, () => {
      expect(parseEndpoint(text, 'win32')).toEqual({
        socketPath: pipe,
        canonical,
      })
    })

  for (const text of [pipe, '//./pipe/containerd-containerd'])
    test(`${text} is taken, with the spelling to use instead`, () => {
      const endpoint = parseEndpoint(text, 'win32')
      expect(endpoint.socketPath).toBe(pipe)
      expect(endpoint.hint).toContain(`write ${canonical}`)
    })

  for (const { text, why } of [
    { text: 'unix:///run/containerd/containerd.sock', why: 'named pipes on Windows' },
    { text: 'tcp://127.0.0.1:3735', why: "'tcp' is not supported" },
    { text: 'npipe:', why: 'names no pipe' },
    { text: 'npipe:////./pipe/', why: 'names no pipe' },
    { text: 'npipe:////server/pipe/x', why: "on another machine, 'server'" },
    { text: 'npipe:////./mailslot/x', why: 'no \\\\.\\pipe\\NAME' },
    { text: 'npipe:////./pipe/../x', why: 'no slashes' },
    { text: 'npipe:////./pipe/a\0b', why: 'zero byte' },
    { text: `npipe:////./pipe/${'x'.repeat(250)}`, why: 'longer than the 256 characters' },
    { text: 'C:\\containerd.sock', why: "'c' is not supported" },
    { text: '', why: 'names no pipe' },
  ])
    test(`'${text.slice(0, 40).replace('\0', '␀')}' is refused: ${why}`, () => {
      try {
        parseEndpoint(text, 'win32')
        expect.unreachable()
      } catch (e) {
        expect(isKeelsonError(e) && e.code).toBe('runtime.endpoint')
        expect(String(e)).toContain(why)
        expect(String(e)).toContain('npipe:////./pipe/containerd-containerd')
      }
    })
})

describe('an npipe endpoint is dialled on Windows, not refused', () => {
  const platform = process.platform
  const before = process.cwd()
  let directory: string
  let runtime: FakeRuntime | undefined
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'keelson-pipe-'))
    process.chdir(directory)
    Object.defineProperty(process, 'platform', { value: 'win32' })
  })
  afterEach(async () => {
    Object.defineProperty(process, 'platform', { value: platform })
    await runtime?.close()
    runtime = undefined
    process.chdir(before)
    rmSync(directory, { recursive: true })
  })
  const start = () =>
    startFakeRuntime({ Version: { value: { runtimeName: 'pipes' } } }, { socketPath: `./${pipe}` })

  test('by the client of kubelet, doctor and top', async () => {
    runtime = await start()
    const client = createCriClient(canonical, { timeoutMs: 5_000 })
    try {
      expect(client).toMatchObject({ endpoint: canonical, socketPath: pipe })
      expect((await client.runtime.version({})).runtimeName).toBe('pipes')
      expect(runtime.callsOf('Version')[0]?.authority).toBe('localhost')
    } finally {
      client.close()
    }
  })

  test("by the CRI server's own connection", async () => {
    runtime = await start()
    const upstream = createUpstream(parseEndpoint(canonical).socketPath, 5_000)
    try {
      await upstream.connection()
      expect(upstream.connections).toBe(1)
    } finally {
      upstream.close()
    }
  })

  test('a pipe that is not there is named in the error, and waited for as a socket is', async () => {
    const client = createCriClient(canonical, { timeoutMs: 5_000 })
    try {
      await expect(client.runtime.version({})).rejects.toMatchObject({
        code: 'runtime.unavailable',
        message: expect.stringMatching(
          /^call Version at \\\\\.\\pipe\\containerd-containerd: .*ENOENT/,
        ) as string,
      })
      runtime = await start()
      expect((await client.runtime.version({}, { waitForReady: true })).runtimeName).toBe('pipes')
    } finally {
      client.close()
    }
  })

  test('a server does not listen on a pipe, whose access it could not narrow', async () => {
    const listening = startCriServer({
      listen: canonical,
      upstream: canonical,
      handle: () => Promise.reject(new Error('no call comes')),
      onError: () => {},
    })
    await expect(listening).rejects.toMatchObject({ code: 'server.listen' })
  })
})
