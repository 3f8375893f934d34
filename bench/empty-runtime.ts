// Ended pods that a kubelet left to its garbage collection are no load of the next one.
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../src/adapters/cri/client/client.js'

const EMPTY_MS = 120_000

/** A sandbox that is just being stopped refuses to be stopped again: it is asked once more. */
export async function emptyRuntime(socket: string): Promise<void> {
  const client = createCriClient(`unix://${socket}`, { timeoutMs: 60_000 })
  const deadline = performance.now() + EMPTY_MS
  const remove = async (podSandboxId: string): Promise<unknown> => {
    try {
      await client.runtime.stopPodSandbox({ podSandboxId })
      return await client.runtime.removePodSandbox({ podSandboxId })
    } catch (e) {
      if (performance.now() > deadline) throw e
      return await sleep(500)
    }
  }
  try {
    for (;;) {
      const { items } = await client.runtime.listPodSandbox({})
      if (items.length === 0) break
      for (const { id } of items) await remove(id)
    }
  } finally {
    client.close()
  }
}
