import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { withAny } from './any-signal.js'

/** Rejects with the reason of the signal. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

test('the work ends with the first signal, for its reason', async () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const work = withAny([one.signal, other.signal], untilAborted)
  other.abort('enough')
  one.abort('too late')
  await expect(work).rejects.toBe('enough')
})

test('a signal that was aborted before', async () => {
  const work = withAny([new AbortController().signal, AbortSignal.abort('over')], untilAborted)
  await expect(work).rejects.toBe('over')
})

test('the result of the work is passed on, and afterwards it follows no signal', async () => {
  const one = new AbortController()
  const kept = await withAny([one.signal], (signal) => Promise.resolve(signal))
  one.abort()
  expect(kept.aborted).toBe(false)
})

test('an error of the work is passed on', async () => {
  await expect(withAny([], () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('a signal that lives long does not grow with every use', async () => {
  const module = new URL('./any-signal.ts', import.meta.url).href
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises'
    const { withAny } = await import('${module}')
    const root = new AbortController()
    const use = async (times) => {
      for (let i = 0; i < times; i++) await withAny([root.signal, new AbortController().signal], () => Promise.resolve())
      for (let i = 0; i < 3; i++) { await sleep(20); gc() }
      return process.memoryUsage().heapUsed
    }
    await use(5_000)
    const before = await use(5_000)
    console.log((await use(50_000)) - before)
  `
  const argv = ['--expose-gc', '--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: 60_000 })
  // AbortSignal.any: 2.8 MB on Node 20.
  expect(Number(stdout)).toBeLessThan(500_000)
})
