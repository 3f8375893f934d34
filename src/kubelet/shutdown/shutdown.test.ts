import { afterEach, expect, test } from 'vitest'
import { parsePod } from '../../core/pod/parse-pod.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import { FakeLogind } from '../../fakes/logind.js'
import { startShutdown } from './shutdown.js'

let ends = new AbortController()
afterEach(() => ends.abort())

const entry = (name: string, graceSeconds: number, priority?: number) => ({
  pod: parsePod({ metadata: { name, uid: name }, spec: { priority, containers: [{ name: 'c' }] } }),
  graceSeconds,
})

async function machine(takesMs: Readonly<Record<string, number>>) {
  ends = new AbortController()
  const clock = new FakeClock()
  const log = new FakeLog()
  const logind = new FakeLogind()
  const said: string[] = []
  const pods = [entry('web', 30), entry('short', 3), entry('dns', 30, 2_000_000_000)]
  const shutdown = startShutdown({
    periods: [
      { priority: 0, seconds: 20 },
      { priority: 2_000_000_000, seconds: 10 },
    ],
    logind,
    fromAnySender: false,
    pods: {
      active: () => pods,
      async kill(uid, { reason, message, graceSeconds, conditions }) {
        expect({ reason, message, condition: conditions[0]?.reason }).toEqual({
          reason: 'Terminated',
          message: 'Pod was terminated in response to imminent node shutdown.',
          condition: 'TerminationByKubelet',
        })
        said.push(`kill ${uid} ${graceSeconds}`)
        await clock.sleep(takesMs[uid] ?? 0)
        said.push(`gone ${uid}`)
      },
    },
    onChange: () => said.push(`status ${shutdown.isShuttingDown()}`),
    nodeEvent: ({ message }) => said.push(message),
    record: { started: async () => {}, ended: async () => {} },
    clock,
    log,
    signal: ends.signal,
  })
  await clock.advance(0)
  await clock.advance(1_000)
  return { clock, log, logind, said, shutdown }
}

test('the lock is held from the start, and logind allows as long as the pods may take', async () => {
  const { logind, shutdown } = await machine({})
  expect(logind.locks).toBe(1)
  expect(logind.delayMs).toBe(30_000)
  expect(shutdown.isShuttingDown()).toBe(false)
})

test('regular pods end, then critical ones, then the lock is given back', async () => {
  const { clock, logind, said } = await machine({ web: 5_000, short: 1_000, dns: 2_000 })
  logind.send(true)
  await clock.advance(0)
  await clock.advance(5_500)
  expect(said).toEqual([
    'Shutdown manager detected shutdown event',
    'status true',
    'kill web 20',
    'kill short 3',
    'gone short',
    'gone web',
    'kill dns 10',
  ])
  expect(logind.locks).toBe(1)
  await clock.advance(2_000)
  expect(said.at(-1)).toBe('gone dns')
  expect(logind.locks).toBe(0)
})

test('a pod that does not end costs its group its time and no more', async () => {
  const { clock, logind, said, log } = await machine({ web: 3_600_000, dns: 3_600_000 })
  logind.send(true)
  await clock.advance(0)
  await clock.advance(19_000)
  expect(said).not.toContain('kill dns 10')
  await clock.advance(2_000)
  expect(said).toContain('kill dns 10')
  await clock.advance(10_000)
  expect(logind.locks).toBe(0)
  expect(log.lines.filter((l) => l.message === 'shutdown: pods did not end in their time')).toHaveLength(2)
})

test('a shutdown that is cancelled: the lock is taken again and pods are accepted', async () => {
  const { clock, logind, said, shutdown } = await machine({})
  logind.send(true)
  await clock.advance(0)
  await clock.advance(100)
  expect(logind.locks).toBe(0)
  logind.send(false)
  await clock.advance(0)
  await clock.advance(100)
  expect(shutdown.isShuttingDown()).toBe(false)
  expect(said.at(-2)).toBe('Shutdown manager detected shutdown cancellation')
  expect(logind.locks).toBe(1)
})

test('after a restart of the bus the lock is taken and shutdowns are watched again', async () => {
  const { clock, logind, said } = await machine({})
  logind.breakConnection()
  await clock.advance(0)
  await clock.advance(2_000)
  expect([logind.given, logind.locks]).toEqual([2, 1])
  logind.send(true)
  await clock.advance(0)
  await clock.advance(100)
  expect(said).toContain('kill web 20')
})
