// Nothing grows: descriptors and memory over 10,000 calls and 200 reconnects.
import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { startFakeRuntime } from '../../../fakes/cri/fake-runtime.js'
import { manyContainers } from '../../../fakes/cri/shapes.js'
import { createCriClient } from './client.js'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const openFiles = (): number => readdirSync('/proc/self/fd').length

async function heldBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('10,000 calls and 200 reconnects leave descriptors and memory flat', { timeout: 240_000 }, async () => {
  const rt = await startFakeRuntime({
    Version: { value: { runtimeName: 'fake' } },
    ListContainers: { value: { containers: manyContainers(20) } },
    ExecSync: { code: 'UNKNOWN', message: 'no' },
    StreamContainers: { values: [{ containers: manyContainers(5) }] },
  })
  const cri = createCriClient(rt.endpoint, { timeoutMs: 10_000 })
  const signal = new AbortController().signal

  async function some(calls: number): Promise<void> {
    const worker = async (n: number): Promise<void> => {
      for (let i = 0; i < n; i += 4) {
        await cri.runtime.version({}, { signal })
        await cri.runtime.listContainers({}, { signal })
        await cri.runtime.execSync({}, { signal }).catch(() => {})
        for await (const _ of cri.runtime.streamContainers({}, { signal })) {
          // Only some: nghttp2 servers close a session after 1000 resets at more than 33 a second.
          if (i % 40 === 0) break
        }
      }
    }
    await Promise.all(Array.from({ length: 10 }, () => worker(calls / 10)))
    rt.clearCalls()
  }
  async function reconnect(times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      if (i % 2 === 0) rt.cutAll()
      else await rt.restart()
      await expect
        .poll(
          () =>
            cri.runtime.version({}, { waitForReady: true }).then(
              () => true,
              () => false,
            ),
          { interval: 1 },
        )
        .toBe(true)
    }
    rt.clearCalls()
  }

  await some(2000)
  await reconnect(20)
  // The last connection but one may still be closing.
  await expect.poll(() => rt.connections).toBe(1)
  const before = { files: openFiles(), bytes: await heldBytes() }
  await some(10_000)
  await expect.poll(openFiles).toBeLessThanOrEqual(before.files)
  const afterCalls = await heldBytes()
  await reconnect(200)
  await expect.poll(openFiles).toBeLessThanOrEqual(before.files)
  const afterReconnects = await heldBytes()

  expect(rt.connections).toBe(1)
  // A leak of 500 bytes a call or 10 KB a reconnect would show.
  expect(afterCalls - before.bytes).toBeLessThan(5_000_000)
  expect(afterReconnects - afterCalls).toBeLessThan(2_000_000)
  cri.close()
  await rt.close()
  await expect.poll(openFiles).toBeLessThan(before.files)
})
