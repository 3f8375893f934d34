// `keelson up` as a new user starts it: in the lab, from the command to running pods and back to nothing.
import assert from 'node:assert/strict'
import { readFileSync, rmdirSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { buildCommandLine, type LabCommand, removeCommandLine, startKeelson } from '../support/lab-command.js'
import { isClean, keptNamespaces, leftoversOf } from '../support/leftovers.js'
import { requires } from '../support/requirements.js'

const readyWithinS = 90
const cleanWithinMs = 10_000
const needs = { root: true, packages: [...needsOf('uml', true), 'disk' as const] }

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function says(run: LabCommand, text: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
  let ended = false
  void run.ended.then(() => {
    ended = true
  })
  for (const until = Date.now() + timeoutMs; ; await sleep(100)) {
    const found = text.exec(run.stdout())
    if (found !== null) return found
    if (ended || Date.now() > until)
      assert.fail(`never said ${text.source}:\n${run.stdout()}\n${run.stderr()}`)
  }
}

async function finish(
  args: readonly string[],
  dir?: string,
): Promise<{ code: number | null; stderr: string; stdout: string }> {
  const run = startKeelson(args, dir)
  const { code } = await run.ended
  if (dir === undefined) rmdirSync(run.dir)
  return { code, stderr: run.stderr(), stdout: run.stdout() }
}

/** The printed link logs a browser of the host in, once; the cookie then shows the page. */
async function logIn(run: LabCommand, ca: string): Promise<void> {
  const link = /dashboard: (https:\S+)/.exec(run.stdout())?.[1] ?? ''
  const first = await open(link, ca)
  expect(first).toMatchObject({ status: 200, cookie: expect.stringMatching(/HttpOnly/) })
  expect((await open(link, ca)).status).toBe(401)
  const cookie = first.cookie.split(';')[0] ?? ''
  expect((await open(new URL('/', link).href, ca, { cookie })).status).toBe(200)
  expect((await open(new URL('/', link).href, ca)).status).toBe(401)
}

const open = (
  link: string,
  ca: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number | undefined; readonly cookie: string }> =>
  new Promise((resolve, reject) => {
    get(link, { ca, agent: false, headers }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, cookie: String(response.headers['set-cookie']) })
    }).on('error', reject)
  })

async function interrupt(run: LabCommand, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  run.child.kill(signal)
  assert.equal((await run.ended).code, 0, run.stderr())
  let left = leftoversOf(run.dir)
  for (const until = Date.now() + cleanWithinMs; !isClean(left) && Date.now() < until; await sleep(50))
    left = leftoversOf(run.dir)
  expect(left).toEqual({ processes: [], mounts: [], files: [] })
}

/** Those of a private containerd belong to a test that may run beside this one. */
const namespacesOfNobody = (): string[] => keptNamespaces().filter((n) => !n.includes('/keelson-containerd-'))

describe('keelson up in the lab', () => {
  test('three pods, then nothing; and again', async (ctx) => {
    requires(ctx, needs)
    const namespaces = namespacesOfNobody()
    const port = await freePort()
    const args = ['up', '--on', 'lab', '--port', String(port)]
    const run = startKeelson(args)
    ctx.onTestFailed(() => void run.child.kill('SIGINT'))
    const [, seconds = ''] = await says(run, /node ready after ([\d.]+) s/, 200_000)
    console.log(`up: node ready after ${seconds} s`)
    expect(Number(seconds)).toBeLessThan(readyWithinS)
    const reach = ['--root-dir', join(run.dir, `keelson-up-${process.getuid?.() ?? 0}`, 'node')]
    const server = ['--server', `https://127.0.0.1:${port}`]

    await logIn(run, readFileSync(join(reach[1] ?? '', 'pki/kubelet.crt'), 'utf8'))
    const pods = await finish(['get', 'pods', ...reach, ...server])
    expect(pods.stdout.match(/Running/g), pods.stdout + pods.stderr).toHaveLength(3)
    await expect
      .poll(async () => (await finish(['logs', 'hog', '--tail', '2', ...reach, ...server])).stdout, {
        timeout: 60_000,
      })
      .toMatch(/pass/)
    const [, hog = ''] = /keelson explain --live (\S+) /.exec(run.stdout()) ?? []
    const live = await finish(['explain', '--live', hog, ...reach, ...server])
    // request 16Mi, limit 64Mi, factor 0.9, in whole pages
    expect(live.stdout).toMatch(/memory\.high +62074880 +62074880/)
    expect(run.stdout()).toMatch(/memoryReservationPolicy: HardReservation\n +memoryThrottlingFactor: 0\.9/)
    expect(run.stdout().match(/^ {2}(npx )?keelson (get|explain)|^ {2}curl /gm)).toHaveLength(3)

    const second = await finish(args.with(-1, String(await freePort())), run.dir)
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/keelson up runs already, as process \d+.*\[up\.busy\]/)
    const taken = await finish(['up', '--on', 'lab', '--port', String(port)])
    expect(taken.stderr).toMatch(/use port \d+.*\[up\.port\]/)

    await interrupt(run)
    const again = startKeelson(args, run.dir)
    await says(again, /node ready after ([\d.]+) s/, 200_000)
    await interrupt(again)
    expect(namespacesOfNobody()).toEqual(namespaces)
    rmdirSync(run.dir)
  })

  test('stopped while it comes up, it leaves nothing either', async (ctx) => {
    requires(ctx, needs)
    const run = startKeelson(['up', '--on', 'lab', '--port', String(await freePort())])
    await says(run, /booting/, 60_000)
    await sleep(2500)
    await interrupt(run)
    rmdirSync(run.dir)
  })

  test('a terminal that is closed ends it as Ctrl-C does', async (ctx) => {
    requires(ctx, needs)
    const run = startKeelson(['up', '--on', 'lab', '--port', String(await freePort())])
    await says(run, /booting/, 60_000)
    await sleep(1000)
    run.child.stdout?.destroy()
    run.child.stderr?.destroy()
    await interrupt(run, 'SIGHUP')
    rmdirSync(run.dir)
  })
})
