// The real containerd killed under our client: every call ends inside its deadline with a typed error, and the same
// client works again once the daemon is back. Containers live on meanwhile.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { cacheDirectory } from '../../src/lab/cache.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../../src/lab/images/images.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { missingRequirement, requires } from '../support/requirements.js'
import { pidOf, type RunningPod, removePod, runPod } from './inside/pod.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const
const timeoutMs = 2000

let containerd: PrivateContainerd | undefined
let client: CriClient | undefined
let pod: RunningPod | undefined

const parts = (): { containerd: PrivateContainerd; client: CriClient; pod: RunningPod } => {
  if (containerd === undefined || client === undefined || pod === undefined) throw new Error('no containerd')
  return { containerd, client, pod }
}

/** The error of a call and how long it took. */
async function failure(call: Promise<unknown>): Promise<{ code: string; ms: number }> {
  const started = performance.now()
  try {
    await call
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return { code: e.code, ms: performance.now() - started }
  }
  throw new Error('the call succeeded and should not have')
}

async function recovered(c: CriClient): Promise<number> {
  const started = performance.now()
  for (;;) {
    const ok = await c.runtime.version({}, { timeoutMs }).then(
      () => true,
      () => false,
    )
    if (ok) return performance.now() - started
    if (performance.now() - started > 60_000) throw new Error('no answer a minute after the restart')
    await sleep(50)
  }
}

const openDescriptors = (): number => readdirSync('/proc/self/fd').length

beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  const images = await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(60_000))
  containerd = await startPrivateContainerd({ archives: [images] })
  client = createCriClient(containerd.endpoint, { timeoutMs: 30_000 })
  pod = await runPod(client, { name: 'faults', cgroupParent: '/kubepods/besteffort/podfaults' })
}, 120_000)

afterAll(async () => {
  if (client !== undefined && pod !== undefined) await removePod(client, pod).catch(() => {})
  client?.close()
  await containerd?.close()
}, 60_000)

describe('real containerd killed under the client', () => {
  test('a call after kill -9 fails at once with runtime.unavailable', async (ctx) => {
    requires(ctx, needs)
    const p = parts()
    await p.containerd.kill('SIGKILL')
    const { code, ms } = await failure(p.client.runtime.version({}, { timeoutMs }))
    assert.equal(code, 'runtime.unavailable')
    assert.ok(ms < timeoutMs + 5000, `${ms} ms`)
  })

  test('the container goes on without the daemon, and the same client finds it after the restart', async (ctx) => {
    requires(ctx, needs)
    const p = parts()
    await p.containerd.start()
    const ms = await recovered(p.client)
    const { status } = await p.client.runtime.containerStatus({ containerId: p.pod.containerId })
    assert.equal(status?.state, 1)
    assert.ok((await pidOf(p.client, p.pod.containerId)) > 0)
    console.log(`recovered ${Math.round(ms)} ms after the restart`)
  })

  test('a call that is under way when the daemon dies ends with a typed error', async (ctx) => {
    requires(ctx, needs)
    const p = parts()
    const cmd = ['/bin/sleep', '30']
    const call = failure(
      p.client.runtime.execSync({ containerId: p.pod.containerId, cmd, timeout: 40n }, { timeoutMs: 45_000 }),
    )
    await sleep(700)
    await p.containerd.kill('SIGKILL')
    const { code, ms } = await call
    assert.equal(code, 'runtime.unavailable')
    assert.ok(ms < 20_000, `${ms} ms of the 30 s that the command takes`)
    await p.containerd.start()
    await recovered(p.client)
  })

  test('a call with waitForReady waits for the daemon to come back', async (ctx) => {
    requires(ctx, needs)
    const p = parts()
    await p.containerd.kill('SIGKILL')
    const call = p.client.runtime.version({}, { timeoutMs: 20_000, waitForReady: true }).then(
      (version) => version.runtimeName,
      (e: unknown) => (e instanceof Error ? e.message : String(e)),
    )
    await sleep(500)
    await p.containerd.start()
    // containerd listens before its CRI service has started: the first answer may be its own "not yet".
    assert.match(await call, /^containerd$|: UNKNOWN: server is not initialized yet;/)
    await recovered(p.client)
  })

  test('a daemon that hangs (SIGSTOP) is runtime.deadline at the deadline, and works on after SIGCONT', async (ctx) => {
    requires(ctx, needs)
    const p = parts()
    process.kill(p.containerd.pid(), 'SIGSTOP')
    try {
      const { code, ms } = await failure(p.client.runtime.listPodSandbox({}, { timeoutMs }))
      assert.equal(code, 'runtime.deadline')
      assert.ok(ms >= timeoutMs - 50 && ms < timeoutMs + 5000, `${ms} ms`)
    } finally {
      process.kill(p.containerd.pid(), 'SIGCONT')
    }
    assert.ok((await recovered(p.client)) < 10_000)
  })

  test('10 kills and restarts: the client recovers each time and holds no more descriptors', async (ctx) => {
    requires(ctx, needs)
    const p = parts()
    await recovered(p.client)
    const before = openDescriptors()
    for (let i = 0; i < 10; i++) {
      await p.containerd.kill('SIGKILL')
      const { code } = await failure(p.client.runtime.version({}, { timeoutMs }))
      assert.ok(['runtime.unavailable', 'runtime.deadline'].includes(code), code)
      await p.containerd.start()
      await recovered(p.client)
    }
    await expect.poll(openDescriptors).toBeLessThanOrEqual(before + 2)
    const { status } = await p.client.runtime.containerStatus({ containerId: p.pod.containerId })
    assert.equal(status?.state, 1)
  })
})
