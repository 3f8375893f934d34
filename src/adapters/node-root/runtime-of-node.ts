// Asks the runtime behind an endpoint who it is, and has it remove all pods; every call has a deadline.
import { isKeelsonError, messageOf } from '../../core/errors.js'
import type { RuntimeAnswer, RuntimeOfNode } from '../../ports/bootstrap.js'
import type { CriClient } from '../../ports/runtime.js'
import { createCriClient } from '../cri/client/client.js'
import { resolveInside } from './rooted-path.js'
import { socketPathOf, withSocketAddress } from './runtime-sockets.js'

const askTimeoutMs = 5_000
const stopTimeoutMs = 60_000

async function withClient<T>(
  root: string,
  endpoint: string,
  use: (client: CriClient) => Promise<T>,
): Promise<T> {
  const path = socketPathOf(endpoint)
  if (path === undefined) throw new Error(`${endpoint} is not a unix socket`)
  const { outside } = await resolveInside(root, path)
  return withSocketAddress(outside, async (address) => {
    const client = createCriClient(`unix://${address}`)
    try {
      return await use(client)
    } finally {
      client.close()
    }
  })
}

async function runtimeConfig(client: CriClient): Promise<RuntimeAnswer['runtimeConfig']> {
  try {
    await client.runtime.runtimeConfig({}, { timeoutMs: askTimeoutMs })
    return 'known'
  } catch (e) {
    return isKeelsonError(e) && e.code === 'runtime.unimplemented' ? 'unimplemented' : 'failed'
  }
}

async function removeAll(client: CriClient): Promise<{ removed: number; problems: string[] }> {
  const { items } = await client.runtime.listPodSandbox({}, { timeoutMs: askTimeoutMs })
  const problems: string[] = []
  let removed = 0
  for (const { id } of items) {
    try {
      await client.runtime.stopPodSandbox({ podSandboxId: id }, { timeoutMs: stopTimeoutMs })
      await client.runtime.removePodSandbox({ podSandboxId: id }, { timeoutMs: stopTimeoutMs })
      removed++
    } catch (e) {
      problems.push(`${id}: ${messageOf(e)}`)
    }
  }
  return { removed, problems }
}

export const createRuntimeOfNode = (root: string): RuntimeOfNode => ({
  describe: (endpoint) =>
    withClient(root, endpoint, async (client) => {
      const { runtimeName, runtimeVersion } = await client.runtime.version({}, { timeoutMs: askTimeoutMs })
      return { name: runtimeName, version: runtimeVersion, runtimeConfig: await runtimeConfig(client) }
    }).catch(() => undefined),
  removePods: (endpoint) => withClient(root, endpoint, removeAll),
})
