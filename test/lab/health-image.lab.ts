// The health image runs in a pod on the host and answers grpc.health.v1 by an independent client (grpc-js over the wire).
import assert from 'node:assert/strict'
import { Client, credentials } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { cacheDirectory } from '../../src/lab/cache.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../../src/lab/images/images.js'
import { ensureHealthImage, findGo, healthReference } from '../support/health-image.js'
import { missingRequirement, requires } from '../support/requirements.js'
import { runPod } from './inside/pod.js'

const needs = {
  root: true,
  packages: ['containerd', 'images'],
  commands: [findGo() ?? 'go'],
} as const

let containerd: PrivateContainerd | undefined
let ip = ''
const names = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']

/** HealthCheckRequest { string service = 1 } and HealthCheckResponse { ServingStatus status = 1 }, by hand. */
const check = (service: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const client = new Client(`${ip}:9090`, credentials.createInsecure())
    const bytes = Buffer.from(service)
    const request =
      bytes.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([10, bytes.length]), bytes])
    client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      (m: Buffer) => m,
      (m) => m,
      request,
      { deadline: Date.now() + 5000 },
      (error, answer) => {
        client.close()
        if (error) reject(error)
        else resolve(names[answer?.[1] ?? 0] ?? '?')
      },
    )
  })

beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  const signal = AbortSignal.timeout(300_000)
  const cache = cacheDirectory(process.env)
  const archives = [await ensureImages(cache, signal), await ensureHealthImage(cache, signal)]
  containerd = await startPrivateContainerd({ archives })
  process.env.LAB_OUT = containerd.dir
  const client = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
  const pod = await runPod(client, {
    name: 'health',
    cgroupParent: '/kubepods/besteffort/podhealth',
    image: healthReference,
    command: ['/health', '-service', 'ready'],
  })
  const { status } = await client.runtime.podSandboxStatus({ podSandboxId: pod.sandboxId })
  ip = status?.network?.ip ?? ''
  client.close()
}, 320_000)
afterAll(() => containerd?.close(), 60_000)

describe('health image', () => {
  test('answers for the server and for a named service', async (ctx) => {
    requires(ctx, needs)
    assert.equal(await check(''), 'SERVING')
    assert.equal(await check('ready'), 'SERVING')
  })
  test('an unknown service is NOT_FOUND', async (ctx) => {
    requires(ctx, needs)
    await assert.rejects(check('other'), /NOT_FOUND|unknown service/)
  })
})
