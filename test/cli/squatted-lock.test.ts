// A local user takes the names by which version 0.1 locked, and waits: the CRI server and the companion start all the same.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Bundle, bundleCommand, startCommand } from '../support/command.js'
import { requires } from '../support/requirements.js'

let bundle: Bundle | undefined
let dir = ''
const closers: (() => unknown)[] = []

beforeAll(async () => {
  bundle = await bundleCommand()
  dir = mkdtempSync(join(tmpdir(), 'keelson-squatted-'))
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await bundle?.remove()
  rmSync(dir, { recursive: true, force: true })
})

const abstractName = (name: string): string =>
  `keelson-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`

/** Listens on an abstract name as `nobody`, or as ourselves. */
async function squat(name: string, as: readonly string[]): Promise<void> {
  const script = `require('node:net').createServer().listen('\\0${abstractName(name)}', () => console.log('has it'))`
  const [command = '', ...args] = [...as, process.execPath, '-e', script]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  closers.push(() => {
    child.kill('SIGKILL')
    return ended
  })
  await once(child.stdout, 'data')
}

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

test('a user who has taken the name of the lock does not keep the CRI server from starting', async (ctx) => {
  requires(ctx, { root: true, commands: ['setpriv'] })
  const path = join(dir, 'cri.sock')
  await squat(`listen ${path}`, nobody)
  const files = ['--cert-dir', join(dir, 'pki'), '--token-file', join(dir, 'token')]
  const endpoints = ['--runtime-endpoint', `unix://${dir}/none.sock`, '--listen', `unix://${path}`]
  const cri = startCommand([bundle?.main ?? '', 'cri', ...files, ...endpoints, '--cgroup-driver', 'systemd'])
  closers.push(() => cri.end('SIGKILL'))
  await cri.says('CRI server started')
})

test('a user who has taken the name of the lock does not keep a rollback from its work', async (ctx) => {
  requires(ctx, { root: true, commands: ['setpriv'] })
  const state = join(dir, 'state')
  mkdirSync(state, { mode: 0o700 })
  await squat(`companion ${state}`, nobody)
  const rollback = startCommand([bundle?.main ?? '', 'companion', 'rollback', '--state-dir', state])
  await rollback.ended
  expect(rollback.output()).not.toContain('companion.busy')
})

test('a companion of version 0.1 that runs as root is respected', async (ctx) => {
  requires(ctx, { root: true })
  const state = join(dir, 'state-of-root')
  mkdirSync(state, { mode: 0o700 })
  await squat(`companion ${state}`, [])
  const rollback = startCommand([bundle?.main ?? '', 'companion', 'rollback', '--state-dir', state])
  expect(await rollback.ended).toBe(1)
  expect(rollback.output()).toContain('companion.busy')
})
