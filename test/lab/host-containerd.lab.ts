// A private containerd on the host leaves nothing: neither after close() nor when its owner is killed.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'
import { mustRun } from '../../src/lab/process.js'
import { mountsNaming, processesNaming } from '../support/leftovers.js'
import { hostHasCgroupV2, requires } from '../support/requirements.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const
const owner = fileURLToPath(new URL('./inside/containerd-owner.ts', import.meta.url))

interface Owner {
  readonly child: ChildProcess
  readonly dir: string
  readonly bridge: string
}

/** A process that starts a containerd with a running pod and then waits. */
async function startOwner(): Promise<Owner> {
  const tmp = mkdtempSync(join(tmpdir(), 'keelson-owner-'))
  const child = spawn(process.execPath, ['--import', 'tsx', owner], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, KEELSON_TEST_DIR: tmp },
  })
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('the owner ended')
    }),
  ])) as [{ dir: string; bridge: string }]
  return { child, ...message }
}

/** Not a recursive listing: other tests' cgroups come and go meanwhile. */
const cgroups = (): string[] => {
  const roots = hostHasCgroupV2()
    ? ['/sys/fs/cgroup']
    : readdirSync('/sys/fs/cgroup').map((n) => `/sys/fs/cgroup/${n}`)
  return roots.map((r) => `${r}/kubepods/burstable/podowner`).filter((p) => existsSync(p))
}

const natRules = (): Promise<string> => mustRun(['iptables', '-t', 'nat', '-S'])

async function assertGone({ dir, bridge }: Owner): Promise<void> {
  assert.equal(existsSync(dir), false, `${dir} is still there`)
  assert.deepEqual(processesNaming(dir), [])
  assert.deepEqual(mountsNaming(dir), [])
  assert.equal(existsSync(`/sys/class/net/${bridge}`), false)
  assert.deepEqual(cgroups(), [])
  assert.doesNotMatch(await natRules(), /keelson-/)
  const results = existsSync('/var/lib/cni/results') ? readdirSync('/var/lib/cni/results') : []
  assert.deepEqual(
    results.filter((f) => f.startsWith('keelson-')),
    [],
  )
}

describe('private containerd on the host', () => {
  for (const how of ['asked to close', 'killed'] as const)
    test(`with a running pod, its owner ${how}: nothing is left`, { timeout: 90_000 }, async (ctx) => {
      requires(ctx, needs)
      const started = await startOwner()
      assert.ok(processesNaming(started.dir).length >= 3, 'daemon, shim and pod are there before')
      assert.ok(existsSync(`/sys/class/net/${started.bridge}`))
      assert.ok(cgroups().length > 0)
      const gone = once(started.child, 'exit')
      if (how === 'killed') started.child.kill('SIGKILL')
      else started.child.send('close')
      await gone
      for (let i = 0; how === 'killed' && i < 100 && existsSync(started.dir); i++) await sleep(50)
      await assertGone(started)
      rmSync(join(started.dir, '..'), { recursive: true, force: true })
    })
})
