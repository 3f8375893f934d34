// `keelson up` as a new user starts it: in the lab, from the command to running pods and back to nothing.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeImageArchive } from '../../src/lab/images/archive.js'
import { findCommand, needsOf } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'
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

/** A wave of the hog takes a quarter of a minute; a command in it answers in every part of one. */
async function movesAndAnswers(reach: readonly string[]): Promise<void> {
  const usages: number[] = []
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    const ran = await finish(['exec', ...reach, 'hog', '--', 'cat', '/sys/fs/cgroup/memory.current'])
    expect(ran.code, ran.stderr).toBe(0)
    usages.push(Number(ran.stdout))
    if (Math.max(...usages) - Math.min(...usages) > 30 * 1024 * 1024) return
  }
  assert.fail(`the hog's memory does not move: ${usages.join(' ')}`)
}

const ownPod = (name: string, image: string): string => `apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: ${image}
      args: [/bin/sh, -c, sleep 100000]
`

/** An image that no lab has, as docker saves it. */
async function makeImageTar(file: string): Promise<void> {
  const files = [
    { path: 'bin', mode: 0o755 },
    { path: 'bin/sh', data: readFileSync(findCommand('busybox') ?? ''), mode: 0o755 },
    { path: 'bin/sleep', link: 'sh' },
  ]
  await writeImageArchive(file, [{ reference: 'example.com/mine:1', files, entrypoint: [] }])
}

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
    const [, hog = ''] = /keelson explain --live (\S+)/.exec(run.stdout()) ?? []
    // As it is printed, without flags.
    const found = await finish(['explain', '--live', hog], run.dir)
    expect(found.stdout, found.stderr).toMatch(/memory\.high +62074880 +62074880/)
    const live = await finish(['explain', '--live', hog, ...reach, ...server])
    // request 16Mi, limit 64Mi, factor 0.9, in whole pages
    expect(live.stdout).toMatch(/memory\.high +62074880 +62074880/)
    expect((await finish(['explain', '--live', 'nopod', ...reach, ...server])).code).toBe(2)
    await movesAndAnswers([...reach, ...server])
    expect(run.stdout()).toMatch(
      new RegExp(`healthy, https://127\\.0\\.0\\.1:${port} \\(port 10250 inside the machine\\)`),
    )
    expect(run.stdout()).toMatch(/memoryReservationPolicy: HardReservation\n +memoryThrottlingFactor: 0\.9/)
    expect(run.stdout().match(/^ {2}(npx )?keelson (get|explain|top)|^ {2}curl /gm)).toHaveLength(4)

    const second = await finish(args, run.dir)
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/keelson up is already running as process \d+.*\[up\.busy\]/)
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

  test('own pods: a refused manifest and a missing image are told, and the others run', async (ctx) => {
    requires(ctx, needs)
    const files = mkdtempSync(join(tmpdir(), 'keelson-own-pods-'))
    ctx.onTestFinished(() => rmSync(files, { recursive: true }))
    const pods = join(files, 'pods')
    mkdirSync(pods)
    writeFileSync(join(pods, 'good.yaml'), ownPod('good', 'keelson.local/busybox:1'))
    writeFileSync(join(pods, 'own.yaml'), ownPod('own', 'example.com/mine:1'))
    writeFileSync(join(pods, 'web.yaml'), ownPod('web', 'nginx:1.27'))
    writeFileSync(
      join(pods, 'bad.yaml'),
      `${ownPod('bad', 'i')}      livenessProbe: { exec: {} }\n  foo: 1\n`,
    )
    await makeImageTar(join(files, 'mine.tar'))
    const port = await freePort()
    const run = startKeelson([
      ...['up', '--on', 'lab', '--port', String(port)],
      ...['--pods', pods, '--image-tar', join(files, 'mine.tar')],
    ])
    ctx.onTestFailed(() => void run.child.kill('SIGINT'))
    await says(
      run,
      /bad\.yaml:10: spec\.containers\[0\]\.livenessProbe\.exec\.command: .*\n.*bad\.yaml:11: spec\.foo: /,
      5_000,
    )
    await says(run, /bad\.yaml:11: [\s\S]* booting/, 60_000)
    await says(run, /loaded example\.com\/mine:1 from \S+mine\.tar/, 120_000)
    await says(
      run,
      /image nginx:1\.27 is not available: the lab has no network.*\n.*docker save nginx:1\.27/,
      60_000,
    )
    await says(run, /node ready +2 of 3 pods running/, 60_000)
    await says(run, /not running:\n {2}bad\.yaml: refused.*\n {2}web-lab-node: image nginx:1\.27/, 10_000)
    const reach = ['--root-dir', join(run.dir, `keelson-up-${process.getuid?.() ?? 0}`, 'node')]
    const server = ['--server', `https://127.0.0.1:${port}`]
    const list = await finish(['get', 'pods', ...reach, ...server])
    expect(list.stdout.match(/(good|own)-lab-node +1\/1 +Running/g)).toHaveLength(2)
    expect(readFileSync(join(reach[1] ?? '', 'kubelet.log'), 'utf8')).toMatch(/bad\.yaml/)
    await interrupt(run)
    rmdirSync(run.dir)
  })

  test('a start that fails inside keeps its logs and says where', async (ctx) => {
    requires(ctx, needs)
    const files = mkdtempSync(join(tmpdir(), 'keelson-broken-tar-'))
    ctx.onTestFinished(() => rmSync(files, { recursive: true }))
    writeFileSync(join(files, 'manifest.json'), '[{"Config":"c.json","RepoTags":["a:1"],"Layers":["l"]}]')
    await mustRun(['tar', '-C', files, '-cf', join(files, 'broken.tar'), 'manifest.json'])
    const tar = ['--image-tar', join(files, 'broken.tar')]
    const { code, stderr } = await finish(['up', '--on', 'lab', '--port', String(await freePort()), ...tar])
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /load --image-tar \S+broken\.tar: .*\n.*c\.json.* not found; create one with .*docker save/,
    )
    const [, kept = ''] = /^logs saved in (\S+)$/m.exec(stderr) ?? []
    expect(readFileSync(join(kept, 'containerd.log'), 'utf8')).toMatch(/containerd successfully booted/)
  })
})
