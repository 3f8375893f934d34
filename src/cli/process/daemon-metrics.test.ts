import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createDaemonMetrics } from './daemon-metrics.js'

const longest = (body: string): number =>
  Number(/^keelson_event_loop_delay_seconds\{quantile="1"\} (\S+)$/m.exec(body)?.[1] ?? Number.NaN)

test('a computation that blocks the event loop is seen in the metric, and stays there for a while', async () => {
  const metrics = await createDaemonMetrics()
  const now = async (): Promise<number> => longest((await metrics.text()).body)
  // The timer was due up to 50 ms after the block began; on a busy machine the first one may come before the timer does.
  const afterBlock = async (): Promise<number> => {
    const end = performance.now() + 300
    while (performance.now() < end);
    await sleep(60)
    return now()
  }
  await expect.poll(afterBlock, { interval: 10 }).toBeGreaterThan(0.24)
  expect(await now()).toBeGreaterThan(0.24)
})

test('the lag of the metrics library, which counts from one wake-up to the next, is not shown', async () => {
  const { body } = await (await createDaemonMetrics()).text()
  expect(body).toContain('nodejs_heap_size_used_bytes')
  expect(body).not.toContain('nodejs_eventloop_lag')
})
