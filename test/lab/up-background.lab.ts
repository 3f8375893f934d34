// `keelson up -d` in the lab: the terminal is free once the node is ready, every command finds it, `up down` leaves nothing.
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { buildCommandLine, removeCommandLine, startKeelson } from '../support/lab-command.js'
import { leftoversOf } from '../support/leftovers.js'
import { requires } from '../support/requirements.js'

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

test('up -d, status, get, top, exec, logs, dashboard, down', async (ctx) => {
  requires(ctx, needs)
  const port = String(await freePort())
  const started = startKeelson(['up', '-d', '--on', 'lab', '--port', port])
  const { dir } = started
  const keelson = async (...args: readonly string[]) => {
    const run = startKeelson(args, dir)
    const { code } = await run.ended
    return { code, text: run.stdout() + run.stderr() }
  }
  ctx.onTestFailed(() => void keelson('up', 'down'))
  expect((await started.ended).code, started.stdout() + started.stderr()).toBe(0)
  expect(started.stdout()).toMatch(/node ready after [\d.]+ s/)
  expect(started.stdout()).toMatch(/keelson up down stops and removes everything\.\n$/)

  const status = await keelson('up', 'status')
  expect(status.code, status.text).toBe(0)
  expect(status.text).toMatch(/^node +ready, in a lab machine$/m)
  expect(status.text).toMatch(/^process .*, in the background$/m)
  expect(status.text).toMatch(/^pods +3 of 3 running$/m)
  expect((await keelson('get', 'pods')).text.match(/ Running /g)).toHaveLength(3)
  expect((await keelson('top', '--once')).text).toMatch(/hog-lab-node/)
  expect((await keelson('exec', 'best-effort', '--', 'ls', '/')).text).toMatch(/^bin$/m)
  expect((await keelson('dashboard')).text).toMatch(
    new RegExp(`^https://127\\.0\\.0\\.1:${port}/login\\?ticket=`),
  )
  expect((await keelson('up', 'logs')).text).toContain(started.stdout())
  for (const part of ['kubelet', 'cri'])
    expect((await keelson('up', 'logs', part, '--tail', '5')).text.trim().split('\n').length).toBeGreaterThan(
      0,
    )
  expect((await keelson('up', '-d')).text).toMatch(
    /already running as process \d+.*keelson up down \[up\.busy\]/,
  )

  const down = await keelson('up', 'down')
  expect(down).toEqual({ code: 0, text: 'stopped and removed\n' })
  expect(leftoversOf(dir)).toEqual({ processes: [], mounts: [], files: [] })
  expect((await keelson('up', 'status')).code).toBe(3)
  rmSync(dir, { recursive: true })
})

test('a start that fails in the background prints why and gives its status', async (ctx) => {
  requires(ctx, needs)
  const run = startKeelson(['up', '-d', '--on', 'lab', '--port', '1', '--image-tar', '/etc/hostname'])
  expect((await run.ended).code).toBe(2)
  expect(run.stdout()).toMatch(/\[input\.unreadable\]/)
  rmSync(run.dir, { recursive: true })
})
