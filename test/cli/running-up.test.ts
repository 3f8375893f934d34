// Commands without flags find the node of a running `keelson up`: what it writes down of itself, beside a real HTTPS server
// that plays its kubelet.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createSelfSigned } from '../../src/adapters/tls/self-signed.js'
import { originOf } from '../../src/cli/top/command.js'
import { findRunning, upDirectory, writeReady, writeRunning } from '../../src/cli/up/running.js'
import { runCommand } from '../support/memory-io.js'
import { requires } from '../support/requirements.js'
import { fourPods, snapshot } from '../top/snapshots.js'

const token = 'b'.repeat(64)
const documents: Readonly<Record<string, unknown>> = {
  '/pods': {
    items: [
      {
        metadata: {
          name: 'hog-n',
          namespace: 'default',
          uid: 'u',
          creationTimestamp: null,
          labels: { app: 'hog' },
        },
        spec: { nodeName: 'n', containers: [{ name: 'main' }] },
        status: { phase: 'Running', qosClass: 'Burstable', containerStatuses: [] },
      },
    ],
  },
  '/live/snapshot': snapshot(fourPods),
}
let place: string
let pair: { readonly certificate: string; readonly key: string }
let server: Server
let port = 0

beforeAll(async () => {
  pair = await createSelfSigned('n', ['127.0.0.1'])
  server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'https://x')
    const isAllowed = request.headers.authorization === `Bearer ${token}`
    const body = pathname === '/login' ? { path: '/login?ticket=abc' } : documents[pathname]
    const status = !isAllowed ? 401 : body === undefined ? 404 : pathname === '/login' ? 201 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'keelson-running-up-'))
  vi.stubEnv('TMPDIR', place)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(place, { recursive: true })
})

/** As `up` in the lab does, with this process in its place. */
async function startUp(more: { readonly isStarting?: boolean } = {}): Promise<string> {
  const dir = upDirectory()
  const rootDir = join(dir, 'node')
  mkdirSync(join(rootDir, 'pki'), { recursive: true, mode: 0o700 })
  writeFileSync(join(rootDir, 'kubelet.log'), 'one\ntwo\nthree\n')
  await writeRunning(dir, { place: 'lab', port, rootDir, logDir: rootDir, startedMs: Date.now() - 60_000 })
  if (more.isStarting === true) return dir
  writeFileSync(join(rootDir, 'pki/kubelet.crt'), pair.certificate)
  writeFileSync(join(rootDir, 'keelson-token'), token, { mode: 0o600 })
  await writeReady(rootDir)
  return dir
}

test('get, top, token, dashboard, status and logs need no flags', async () => {
  const dir = await startUp()
  const pods = await runCommand(['get', 'pods'])
  expect(pods.stdout, pods.stderr).toMatch(/default +hog-n /)
  const usage = await runCommand(['top', '--once'])
  expect(usage.stdout, usage.stderr).toContain(fourPods[0]?.name)
  expect((await runCommand(['token'])).stdout).toBe(`${token}\n`)
  const link = `https://127.0.0.1:${port}/login?ticket=abc\n`
  expect((await runCommand(['dashboard'])).stdout).toBe(link)
  expect((await runCommand(['token', '--login'])).stdout).toBe(link)
  expect((await runCommand(['token', '--login', `https://127.0.0.1:${port}`])).stdout).toBe(link)
  const status = await runCommand(['up', 'status'])
  expect(status).toMatchObject({ status: 0, stderr: '' })
  expect(status.stdout).toMatch(/^node +ready, in a lab machine$/m)
  expect(status.stdout).toMatch(new RegExp(`^process +${process.pid}, started 6\\ds ago$`, 'm'))
  expect(status.stdout).toMatch(/^pods +1 of 1 running$/m)
  const json = JSON.parse((await runCommand(['up', 'status', '-o', 'json'])).stdout) as object
  expect(json).toMatchObject({
    running: true,
    ready: true,
    server: `https://127.0.0.1:${port}`,
    rootDir: join(dir, 'node'),
    pods: [{ namespace: 'default', name: 'hog-n', phase: 'Running' }],
  })
  expect((await runCommand(['up', 'logs', 'kubelet', '--tail', '2'])).stdout).toBe('two\nthree\n')
  expect((await runCommand(['up', 'logs', 'cri'])).stderr).toMatch(
    /there is no log of cri; in \S+: kubelet \[input\.unreadable\]/,
  )
})

test('get: labels, all namespaces, no headers; no line on standard output where there is no pod', async () => {
  await startUp()
  const lines = async (...flags: readonly string[]) =>
    (await runCommand(['get', 'pods', ...flags])).stdout.split('\n').length - 1
  expect(await lines()).toBe(2)
  expect(await lines('-A', '-l', 'app=hog', '--no-headers')).toBe(1)
  expect(await lines('-l', 'app in (web),app')).toBe(0)
  expect(await lines('-n', 'other')).toBe(0)
  expect(await lines('-n', 'other', '-A')).toBe(2)
  expect((await runCommand(['get', 'pods', '-n', 'other'])).stderr).toBe('No pods.\n')
  expect(await runCommand(['get', 'pods', '-l', '=x'])).toMatchObject({ status: 2 })
})

test('top takes the runtime of crictl where no node of ours runs', async () => {
  const file = join(place, 'crictl.yaml')
  writeFileSync(file, 'runtime-endpoint: unix:///run/x.sock\n')
  expect(originOf({}, { CRI_CONFIG_FILE: file })).toEqual({
    kind: 'runtime',
    endpoint: 'unix:///run/x.sock',
  })
  for (const bad of ['', 'runtime-endpoint: 5', '- a: [', 'x'.repeat(100_000)]) {
    writeFileSync(file, bad)
    expect(originOf({}, { CRI_CONFIG_FILE: file })).toMatchObject({
      endpoint: 'unix:///run/containerd/containerd.sock',
    })
  }
  await startUp()
  expect(originOf({}, {})).toEqual({ kind: 'kubelet', reach: {} })
  expect(originOf({}, { CONTAINER_RUNTIME_ENDPOINT: 'unix:///y' })).toMatchObject({ endpoint: 'unix:///y' })
  expect(originOf({ runtimeEndpoint: 'unix:///z' }, {})).toMatchObject({ endpoint: 'unix:///z' })
})

test('its --root-dir is enough: the port comes with it', async () => {
  const dir = await startUp()
  const { stdout, stderr } = await runCommand(['get', 'pods', '--root-dir', join(dir, 'node')])
  expect(stdout, stderr).toMatch(/hog-n/)
})

test('flags name another kubelet: the running node is left alone', async () => {
  await startUp()
  const { stderr } = await runCommand(['get', 'pods', '--root-dir', join(place, 'other')])
  expect(stderr).toContain(`read token file ${join(place, 'other/keelson-token')}: no such file`)
})

test('a node that is still starting is said to be so', async () => {
  await startUp({ isStarting: true })
  const { stderr } = await runCommand(['get', 'pods'])
  expect(stderr).toMatch(/keelson up \(process \d+\) is still starting.*\[kubelet\.unreachable\]/)
  const status = await runCommand(['up', 'status'])
  expect(status.stdout).toMatch(/^node +starting/m)
  expect(status.stdout).toMatch(/^pods +unknown: /m)
})

test('without a node: status 3, and down has nothing to do', async () => {
  expect(await runCommand(['up', 'status'])).toMatchObject({
    status: 3,
    stdout: 'not running; start it with: keelson up -d\n',
  })
  expect(await runCommand(['up', 'down'])).toMatchObject({ status: 0, stdout: 'not running\n' })
})

test('a process that has ended, and one that has its id by now, are no running node', async () => {
  const dir = await startUp()
  const child = spawn('sleep', ['60'])
  const write = (pid: number, startTicks: string): void =>
    writeFileSync(join(dir, 'up.json'), JSON.stringify({ ...findRunning(), pid, startTicks }))
  expect(findRunning()?.pid).toBe(process.pid)
  const running = findRunning()
  write(child.pid ?? 0, running?.startTicks ?? '')
  expect(findRunning()).toBeUndefined()
  child.kill()
  await once(child, 'exit')
  write(child.pid ?? 0, 'any')
  expect(findRunning()).toBeUndefined()
  writeFileSync(join(dir, 'up.json'), '{"pid":')
  expect(findRunning()).toBeUndefined()
})

test('the directory of another user is not believed', async (ctx) => {
  requires(ctx, { root: true })
  const dir = await startUp()
  chownSync(dir, 65534, 65534)
  expect(findRunning()).toBeUndefined()
})

test('down ends the process and waits for it', async () => {
  const dir = await startUp()
  const script = 'process.on("SIGTERM", () => setTimeout(() => process.exit(0), 300)); console.log("up")'
  const child = spawn(process.execPath, ['-e', `${script}; setInterval(() => {}, 1000)`])
  await once(child.stdout, 'data')
  const text = await import('node:fs').then((fs) => fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8'))
  const startTicks = text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(join(dir, 'up.json'), JSON.stringify({ ...findRunning(), pid: child.pid, startTicks }))
  expect(await runCommand(['up', 'down'])).toMatchObject({ status: 0, stdout: 'stopped and removed\n' })
  expect(child.exitCode ?? child.signalCode).not.toBeNull()
})

test('a comparison that ends by itself does not run in the background', async () => {
  const { status, stderr } = await runCommand(['up', '-d', '--demo', 'pressure'])
  expect(status).toBe(2)
  expect(stderr).toMatch(/run it without -d \[usage\.invalid\]/)
})
