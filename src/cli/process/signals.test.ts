// Real signals to this very process: vitest's workers are processes of their own.
import { afterEach, expect, test } from 'vitest'
import { untilSignal } from './signals.js'

const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve((signal.reason as Error).message), { once: true }),
  )
/** Keeps the process alive where a listener has gone. */
const ignore = (): void => {}
const counts = (): number[] =>
  (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => process.listenerCount(name))

afterEach(() => void process.off('SIGHUP', ignore))

test('the signal aborts with its name, is reported once, and leaves no listener', async () => {
  const before = counts()
  const told: string[] = []
  const reason = await untilSignal(
    async (signal) => {
      const end = aborted(signal)
      process.kill(process.pid, 'SIGHUP')
      const why = await end
      process.kill(process.pid, 'SIGHUP')
      await new Promise((resolve) => setTimeout(resolve, 50))
      return why
    },
    { names: ['SIGHUP'], onSignal: (name) => told.push(name), again: 'ignored' },
  )
  expect(reason).toBe('SIGHUP')
  expect(told).toEqual(['SIGHUP'])
  expect(counts()).toEqual(before)
})

test('a second time the signal ends the process, unless that was ruled out: its listener goes with the first', async () => {
  process.on('SIGHUP', ignore)
  const before = process.listenerCount('SIGHUP')
  for (const [again, left] of [
    ['ends', before],
    ['ignored', before + 1],
  ] as const)
    await untilSignal(
      async (signal) => {
        const end = aborted(signal)
        process.kill(process.pid, 'SIGHUP')
        await end
        expect(process.listenerCount('SIGHUP'), again).toBe(left)
      },
      { names: ['SIGHUP'], again },
    )
})

test('an error of the work is thrown, and listeners go all the same', async () => {
  const before = counts()
  await expect(untilSignal(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(counts()).toEqual(before)
})
