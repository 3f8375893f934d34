// `keelson up` as a new user starts it: in the lab, from the command to running pods and back to nothing; and its host
// mode inside a machine that has root and cgroup v2.
import assert from 'node:assert/strict'
import { rmdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import {
  buildCommandLine,
  commandFile,
  type LabCommand,
  removeCommandLine,
  startKeelson,
  startLabRun,
} from '../support/lab-command.js'
import { isClean, keptNamespaces, leftoversOf } from '../support/leftovers.js'
import { requires } from '../support/requirements.js'

const readyWithinS = 90
const cleanWithinMs = 10_000
const needs = { root: true, packages: needsOf('uml', true) }

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

async function interrupt(run: LabCommand): Promise<void> {
  run.child.kill('SIGINT')
  assert.equal((await run.ended).code, 0, run.stderr())
  let left = leftoversOf(run.dir)
  for (const until = Date.now() + cleanWithinMs; !isClean(left) && Date.now() < until; await sleep(50))
    left = leftoversOf(run.dir)
  expect(left).toEqual({ processes: [], mounts: [], files: [] })
}

describe('keelson up in the lab', () => {
  test('three pods, then nothing; and again', async (ctx) => {
    requires(ctx, needs)
    const namespaces = keptNamespaces()
    const port = await freePort()
    const args = ['up', '--on', 'lab', '--port', String(port)]
    const run = startKeelson(args)
    const [, seconds = ''] = await says(run, /node ready after ([\d.]+) s/, 200_000)
    console.log(`up: node ready after ${seconds} s`)
    expect(Number(seconds)).toBeLessThan(readyWithinS)
    const reach = ['--root-dir', join(run.dir, `keelson-up-${process.getuid?.() ?? 0}`, 'node')]
    const server = ['--server', `https://127.0.0.1:${port}`]

    const pods = await finish(['get', 'pods', ...reach, ...server])
    expect(pods.stdout.match(/Running/g), pods.stdout + pods.stderr).toHaveLength(3)
    expect((await finish(['logs', 'hog', '--tail', '2', ...reach, ...server])).stdout).not.toBe('')

    const second = await finish(args.with(-1, String(await freePort())), run.dir)
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/keelson up runs already, as process \d+.*\[up\.busy\]/)
    const taken = await finish(['up', '--on', 'lab', '--port', String(port)])
    expect(taken.stderr).toMatch(/use port \d+.*\[up\.port\]/)

    await interrupt(run)
    const again = startKeelson(args, run.dir)
    await says(again, /node ready after ([\d.]+) s/, 200_000)
    await interrupt(again)
    expect(keptNamespaces()).toEqual(namespaces)
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
})

describe('keelson up on a host', () => {
  test('root and cgroup v2: a private containerd, three pods, and the machine as it was', async (ctx) => {
    requires(ctx, needs)
    const script = new URL('./inside/up-host.sh', import.meta.url).pathname
    const run = startLabRun(['--timeout', '400', '--memory', '2048', '--', 'bash', script, commandFile()])
    const { code } = await run.ended
    assert.equal(code, 0, `${run.stdout()}\n${run.stderr()}`)
    expect(run.stdout()).toMatch(/this host \(root on cgroup v2\)/)
    expect(run.stdout()).toMatch(/node ready after/)
    expect(run.stdout()).toMatch(/SAME MACHINE/)
    rmdirSync(run.dir)
  })
})
