// When systemd hears of us: a program in place of systemd-notify counts. With real systemd: test/lab/watchdog.lab.ts.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { formatCriUnit } from '../../bootstrap/cri-unit.js'
import type { Log } from '../../ports/log.js'
import { startWatchdog } from './watchdog.js'

let dir: string
let stop: () => void = () => undefined
const said: string[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-watchdog-'))
  writeFileSync(join(dir, 'told'), '')
  said.length = 0
})
afterEach(() => {
  stop()
  rmSync(dir, { recursive: true, force: true })
})

const log: Log = (() => {
  const keep = (message: string, fields?: unknown): void =>
    void said.push(`${message} ${JSON.stringify(fields)}`)
  const all: Log = { debug: keep, info: keep, warn: keep, error: keep, with: () => all }
  return all
})()

function start(
  ask: () => Promise<string | undefined>,
  script = `echo "$NOTIFY_SOCKET $*" >> ${dir}/told`,
): void {
  writeFileSync(join(dir, 'systemd-notify'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(dir, 'systemd-notify'), 0o755)
  const env = { NOTIFY_SOCKET: '/run/x', PATH: `${dir}:${process.env.PATH}` }
  ;({ stop } = startWatchdog({ limitMs: 400, intervalMs: 200, env, ask, log }))
}
const told = (): string[] => readFileSync(join(dir, 'told'), 'utf8').trim().split('\n').filter(Boolean)

test('a healthy process tells systemd again and again', async () => {
  start(async () => undefined)
  await expect.poll(told).toContain('/run/x WATCHDOG=1')
  await expect.poll(() => told().length).toBeGreaterThan(2)
  expect(said).toEqual([])
})

test('a process whose check fails says nothing to systemd, once to the log, and goes on when it is well', async () => {
  let problem: string | undefined = 'syncloop: stands still'
  start(async () => problem)
  await expect.poll(() => said).toHaveLength(1)
  await sleep(100)
  expect(told()).toEqual([])
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('syncloop: stands still')
  problem = undefined
  await expect.poll(told).toContain('/run/x WATCHDOG=1')
})

test('a systemd-notify that fails is tried again soon', async () => {
  start(async () => undefined, `echo x >> ${dir}/told; [ $(wc -l < ${dir}/told) -gt 2 ]`)
  await expect.poll(() => told().length).toBeGreaterThan(2)
  expect(said[0]).toContain('systemd-notify')
})

test('each unit is watched, so that a process that stands still is started again', () => {
  const root = join(import.meta.dirname, '../../..')
  const units = ['keelson-kubelet', 'keelson-cri', 'keelson-companion'].map((name) =>
    readFileSync(join(root, `deploy/systemd/${name}.service`), 'utf8'),
  )
  const written = formatCriUnit({
    program: ['/usr/local/bin/keelson'],
    upstream: 'unix:///run/containerd/containerd.sock',
    listen: 'unix:///run/keelson/cri.sock',
    mode: 'complete',
    values: 'repair',
  })
  for (const unit of [...units, written])
    for (const setting of ['WatchdogSec=120', 'WatchdogSignal=SIGKILL', 'NotifyAccess=all', 'Restart=always'])
      expect(unit.split('\n')).toContain(setting)
})
