// `exec`, `explain --live` and `token` against a real HTTPS server that plays a kubelet: what they say of one that is slow,
// one that is not there, and pods that it does not know.
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSelfSigned } from '../../src/adapters/tls/self-signed.js'
import { createKubeletClient } from '../../src/cli/pods/kubelet-client.js'
import { slowness } from '../../src/cli/pods/why-slow.js'
import { freePorts } from '../support/command.js'
import { runCommand } from '../support/memory-io.js'

const token = 'a'.repeat(64)
let dir: string
let server: Server
let reach: readonly string[]
let asked: string[] = []
/** The kubelet's answer to a command; undefined: none, for ever. */
let answer: { readonly status: number; readonly body: unknown } | undefined

const MiB = 1024 * 1024
const values = (
  usage: number,
  throttlesPerSecond: number | null,
  throttledPercent: number | null = null,
) => ({
  cpu: { milli: 1, throttledPercent },
  memory: {
    usage: String(usage * MiB),
    workingSet: '0',
    cache: null,
    min: null,
    low: null,
    high: String(60 * MiB),
    max: null,
    highEvents: null,
    maxEvents: null,
    oomKills: null,
    throttlesPerSecond,
  },
  pressure: null,
  io: null,
})

const documents: Readonly<Record<string, unknown>> = {
  '/pods': {
    items: [
      {
        metadata: { name: 'hog-n', namespace: 'default', uid: 'u' },
        spec: { nodeName: 'n' },
        status: { containerStatuses: [{ name: 'main' }] },
      },
    ],
  },
  '/live/snapshot': { pods: [{ uid: 'u', containers: [{ name: 'main', values: values(61, 12) }] }] },
}

const row = (pod: string | null) => ({
  level: 'pod',
  title: 't',
  path: '/p',
  pod,
  usage: null,
  throttleEvents: null,
  pressureAvg10: null,
  files: [],
})
const memoryQos = (wanted: string | null) => ({
  findings: [],
  rows: [
    row(null),
    ...['default/hog-n', 'default/web-1-n', 'default/web-2-n']
      .filter((pod) => wanted === null || pod === wanted || pod.endsWith(`/${wanted}`))
      .map(row),
  ],
})

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-commands-'))
  const { certificate, key } = await createSelfSigned('n', ['127.0.0.1'])
  await mkdir(join(dir, 'pki'))
  await writeFile(join(dir, 'pki/kubelet.crt'), certificate)
  await writeFile(join(dir, 'keelson-token'), token, { mode: 0o600 })
  server = createServer({ cert: certificate, key }, (request, response) => {
    const url = new URL(request.url ?? '', 'https://x')
    asked.push(`${request.headers.authorization === `Bearer ${token}` ? '' : 'no token '}${url.pathname}`)
    const send = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (url.pathname.startsWith('/run/')) {
      asked.push(`timeout ${url.searchParams.get('timeout') ?? ''}`)
      if (answer !== undefined) send(answer.status, answer.body)
    } else if (url.pathname === '/memoryqos') send(200, memoryQos(url.searchParams.get('pod')))
    else if (url.pathname === '/login') send(201, { path: '/login?ticket=abc' })
    else send(documents[url.pathname] === undefined ? 404 : 200, documents[url.pathname] ?? {})
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  reach = ['--root-dir', dir, '--server', `https://127.0.0.1:${(server.address() as AddressInfo).port}`]
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true })
})

const exec = (...flags: readonly string[]) => {
  asked = []
  return runCommand(['exec', ...reach, ...flags, 'hog', '--', 'ls', '/'])
}

describe('exec', () => {
  test('passes the time on that the command may take', async () => {
    answer = { status: 200, body: { exitCode: 3, stdout: Buffer.from('out').toString('base64') } }
    expect(await exec('--timeout', '2m')).toEqual({ status: 3, stdout: 'out', stderr: '' })
    expect(asked).toContain('timeout 120')
  })

  test('a command that takes too long in a throttled container is not said to be an unreachable kubelet', async () => {
    answer = { status: 504, body: { message: 'timeout 1s exceeded' } }
    const { status, stderr } = await exec('--timeout', '1s')
    expect(status).toBe(1)
    expect(stderr).toBe(
      'keelson: run ls in hog-n/main: no response within 1 s: the container is throttled at memory.high 60Mi (usage 61Mi), which slows down commands in it; allow more time with --timeout [kubelet.no-answer]\n',
    )
  })

  test('a kubelet that takes the request and says nothing did not answer in time; it is not unreachable', async () => {
    answer = undefined
    const [, rootDir = '', , url = ''] = reach
    const client = createKubeletClient({ rootDir, server: url })
    await expect(client.post('/run/default/hog-n/main?command=ls', '*/*', 200)).rejects.toMatchObject({
      code: 'kubelet.no-answer',
      message: expect.stringMatching(/connected, but no response within 0\.2 s/),
    })
  })

  test('nothing listens: no connection, at once', async () => {
    const [port = 0] = await freePorts(1)
    const { stderr } = await runCommand([
      ...['exec', '--root-dir', dir, '--server', `https://127.0.0.1:${port}`],
      ...['hog', '--', 'ls'],
    ])
    expect(stderr).toMatch(/ECONNREFUSED.*is it running, with this --root-dir\? \[kubelet\.unreachable\]/)
  })

  for (const bad of ['0s', '5', 'soon', '25h'])
    test(`--timeout ${bad} is refused`, async () => {
      expect(await exec('--timeout', bad)).toMatchObject({ status: 2, stderr: expect.stringMatching(/90s/) })
    })
})

describe('a container is slow', () => {
  for (const { name, given, why } of [
    { name: 'at memory.high', given: values(59, null), why: /throttled at memory\.high 60Mi/ },
    { name: 'throttled just now', given: values(40, 3), why: /usage 40Mi/ },
    { name: 'without CPU', given: values(1, 0, 93), why: /reaches its CPU limit in 93 % of the periods/ },
    { name: 'for no reason of its own', given: values(1, 0, 3), why: undefined },
  ])
    test(name, () => {
      const said = slowness({ values: given })
      if (why === undefined) expect(said).toBeUndefined()
      else expect(said).toMatch(why)
    })
})

describe('explain --live', () => {
  const explain = (pod: string) => runCommand(['explain', '--live', pod, ...reach])

  test('a pod that is not there is an error, not the tree without it', async () => {
    const { status, stdout, stderr } = await explain('nopod')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toBe(
      'keelson: pod nopod not found; pods on this node: hog-n, web-1-n, web-2-n [pod.not-found]\n',
    )
  })

  test("a name without the node's at its end is found, as by logs and exec", async () => {
    const { status, stdout } = await explain('hog')
    expect(status).toBe(0)
    expect(stdout.match(/^t$/gm)).toHaveLength(2)
    expect((await explain('web')).stderr).toMatch(/several pods begin with web: default\/web-1-n, /)
    expect((await explain('default/hog-n')).status).toBe(0)
  })
})

describe('token', () => {
  test('--root-dir finds the token and the certificate of a kubelet', async () => {
    expect((await runCommand(['token', '--root-dir', dir])).stdout).toBe(`${token}\n`)
    const [, , , url = ''] = reach
    expect((await runCommand(['token', '--root-dir', dir, '--login', url])).stdout).toBe(
      `${url}/login?ticket=abc\n`,
    )
  })
})
