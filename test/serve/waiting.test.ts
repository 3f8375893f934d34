// Made-up tokens while the API server is slow: each of them waits for its answer, and none of them may keep a valid caller out.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultRequestLimits } from '../../src/serve/settings.js'
import { type ApiStub, startApiStub } from './api-stub.js'
import { ask } from './client.js'
import { createAuthority } from './pki.js'
import { type Served, settingsIn, startStandIn, temporaryDirectory } from './start.js'

const maxWaiting = 20
const directory = temporaryDirectory()
let api: ApiStub
let served: Served

beforeAll(async () => {
  api = await startApiStub(directory.path, await createAuthority('cluster-ca'))
  const settings = settingsIn(directory.path, 'kubelet', {
    requests: { ...defaultRequestLimits, maxWaiting },
    authorization: { mode: 'AlwaysAllow', allowTtlMs: 0, denyTtlMs: 0 },
  })
  served = await startStandIn({ settings, kubeconfig: api.kubeconfig })
})
afterAll(async () => {
  await served.stop()
  await api.close()
  directory.remove()
})

const status = async (token: string, from = '127.0.0.1'): Promise<number> =>
  (await ask({ port: served.port, path: '/healthz', token, from })).status

test('made-up tokens fill all places while the API server is slow: new valid callers are let in all the same', async () => {
  for (const user of ['one', 'two']) api.tokens.set(`token-of-${user}`, { username: user, groups: [] })
  api.setMood('slow', 2000)
  const crowd = Array.from({ length: maxWaiting + 5 }, (_, i) => status(`made-up-${i}`).catch(() => 0))
  await expect.poll(() => api.asked.length, { interval: 20 }).toBeGreaterThanOrEqual(maxWaiting)
  const valid = await Promise.all([status('token-of-one', '127.0.0.2'), status('token-of-two')])
  expect(valid).toEqual([200, 200])
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([401]))
})
