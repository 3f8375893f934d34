// The CRI server killed (SIGKILL) 100 times under running pods of real containerd: no container restarts, and a client is
// back with its next attempt.
import assert from 'node:assert/strict'
import { afterAll, beforeAll, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { cacheDirectory } from '../../src/lab/cache.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../../src/lab/images/images.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { type ServerProcess, startServerProcess } from '../criserver/server-process.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import { missingRequirement, requires } from '../support/requirements.js'
import { pidOf, type RunningPod, removePod, runPod } from './inside/pod.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const
const kills = 100

let bundle: Bundle | undefined
let containerd: PrivateContainerd | undefined
let server: ServerProcess | undefined
let client: CriClient | undefined
const pods: RunningPod[] = []

beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  const images = await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(60_000))
  containerd = await startPrivateContainerd({ archives: [images] })
  bundle = await bundleCommand()
  server = await startServerProcess(bundle.main, containerd.endpoint)
  client = createCriClient(server.endpoint, { timeoutMs: 30_000 })
  for (let i = 0; i < 3; i++)
    pods.push(await runPod(client, { name: `kill-${i}`, cgroupParent: `/kubepods/besteffort/podkill${i}` }))
}, 180_000)

afterAll(async () => {
  if (client !== undefined) for (const pod of pods) await removePod(client, pod).catch(() => {})
  client?.close()
  await server?.close()
  await containerd?.close()
  await bundle?.remove()
}, 60_000)

interface Seen {
  readonly id: string
  readonly pid: number
  readonly startedAt: bigint | undefined
  readonly state: number | undefined
}

async function look(c: CriClient): Promise<Seen[]> {
  const { containers } = await c.runtime.listContainers({}, { waitForReady: true })
  return await Promise.all(
    containers
      .map((x) => x.id)
      .sort()
      .map(async (id) => {
        const { status } = await c.runtime.containerStatus({ containerId: id })
        return { id, pid: await pidOf(c, id), startedAt: status?.startedAt, state: status?.state }
      }),
  )
}

test(`killed ${kills} times under running pods: zero container restarts`, async (ctx) => {
  requires(ctx, needs)
  assert.ok(server !== undefined && client !== undefined)
  const before = await look(client)
  assert.equal(before.length, pods.length)
  let slowestMs = 0
  for (let i = 0; i < kills; i++) {
    // A call is under way when the server dies, and ends for its caller.
    const under = client.runtime
      .execSync({ containerId: pods[0]?.containerId ?? '', cmd: ['/bin/sleep', '1'], timeout: 20n })
      .catch((e: unknown) => e)
    await server.restart()
    await under
    const begun = performance.now()
    await client.runtime.version({}, { timeoutMs: 10_000, waitForReady: true })
    slowestMs = Math.max(slowestMs, performance.now() - begun)
    if (i % 10 === 9) assert.deepEqual(await look(client), before)
  }
  assert.deepEqual(await look(client), before)
  console.log(`${kills} kills, slowest return of the client ${Math.round(slowestMs)} ms`)
  assert.ok(slowestMs < 5000)
})
