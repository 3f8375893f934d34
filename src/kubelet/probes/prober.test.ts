// The loop of all probes with a clock that the test moves: when they run, what they change, and that hostile ones hurt no other.
import { afterEach, describe, expect, test } from 'vitest'
import { calm } from '../../../test/support/open-work.js'
import { container, exited, observed, second, specOf } from '../../../test/support/pod-manifest.js'
import { FakeClock } from '../../fakes/clock.js'
import type { GetAnswer, ProbeCalls } from '../../ports/network/probe-calls.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import type { PodEvent } from '../events/pod-events.js'
import type { ObservedContainer } from '../pods/decide/observed.js'
import { startProber } from './prober.js'

const well: GetAnswer = { kind: 'answer', status: 200, location: undefined, body: '' }
const ill: GetAnswer = { kind: 'answer', status: 500, location: undefined, body: '' }
const httpGet = { path: '/', port: 80 }
const ends: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function setUp(probes: object, answer: () => Promise<GetAnswer> = async () => well) {
  const clock = new FakeClock()
  const stop = new AbortController()
  const asked: number[] = []
  const changes: string[] = []
  const events: PodEvent[] = []
  const calls: ProbeCalls = {
    get: (_, __, signal) => {
      asked.push(Number(clock.monotonicNanos() / second))
      const ended = new Promise<GetAnswer>((resolve) =>
        signal.addEventListener('abort', () => resolve({ kind: 'failed', why: 'other', message: '' })),
      )
      return Promise.race([answer(), ended])
    },
    connect: async () => undefined,
    health: async () => ({ kind: 'status', status: 1 }),
  }
  const metrics = await createProcessMetrics({ processDefaults: false })
  const prober = startProber({
    runtime: { execSync: () => Promise.reject(new Error('no exec here')) },
    calls,
    release: '1.37',
    clock,
    metrics,
    events: { pod: (_, event) => void events.push(event) },
    hostIPs: () => ['10.0.0.7'],
    signal: stop.signal,
    random: () => 0,
  })
  prober.onChange((uid) => changes.push(uid))
  ends.push(async () => {
    stop.abort()
    await prober.done
  })
  const spec = specOf({ containers: [{ name: 'app', image: 'i', ...probes }] })
  const look = (...containers: ObservedContainer[]) => prober.look({ spec, observed: observed(containers) })
  const running = (attempt = 0, startedAtNanos = clock.nowNanos()) =>
    container({ name: 'app', attempt, startedAtNanos })
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i += 1) {
      await calm({ open: 0 })
      await clock.advance(1000)
      await calm({ open: 0 })
    }
  }
  return { clock, prober, asked, changes, events, metrics, look, running, pass }
}

describe('readiness', () => {
  test('is not waited for when a container has started, and then keeps its period', async () => {
    const p = await setUp({ readinessProbe: { httpGet, periodSeconds: 5 } })
    p.look()
    await p.pass(2)
    const one = p.running()
    expect(p.look(one).get('app#0')).toMatchObject({ started: true, ready: false })
    await p.pass(1)
    expect(p.asked).toEqual([2])
    expect(p.look(one).get('app#0')).toMatchObject({ ready: true })
    expect(p.changes).toEqual(['u1'])
    await p.pass(10)
    expect(p.asked).toEqual([2, 7, 12])
  })

  test('waits for the initial delay', async () => {
    const p = await setUp({ readinessProbe: { httpGet, periodSeconds: 1, initialDelaySeconds: 4 } })
    p.look(p.running())
    await p.pass(6)
    expect(p.asked[0]).toBe(4)
  })

  test('goes on while the pod terminates, liveness does not', async () => {
    const p = await setUp({
      readinessProbe: { httpGet, periodSeconds: 1 },
      livenessProbe: { httpGet, periodSeconds: 1 },
    })
    p.look(p.running())
    await p.pass(1)
    p.prober.onlyReadiness('u1')
    const before = p.asked.length
    await p.pass(5)
    expect(p.asked.length - before).toBe(5)
  })
})

describe('liveness and startup', () => {
  test('a failed liveness probe is a reason to kill, and the next instance begins anew', async () => {
    const p = await setUp({ livenessProbe: { httpGet, periodSeconds: 1 } }, async () => ill)
    const first = p.running()
    p.look(first)
    await p.pass(3)
    expect(p.look(first).get('app#0')).toMatchObject({ failed: 'liveness' })
    expect(p.events.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
      Array.from(
        { length: 3 },
        () => 'Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500',
      ),
    )
    const asked = p.asked.length
    await p.pass(5)
    expect(p.asked.length, 'on hold').toBe(asked)
    expect(p.look(exited('app', 137), p.running(1)).get('app#1')).toMatchObject({ failed: undefined })
    await p.pass(5)
    expect(p.asked.length).toBeGreaterThan(asked)
  })

  test('others wait for the startup probe, which then stops', async () => {
    let answer = ill
    const p = await setUp(
      {
        startupProbe: { httpGet, periodSeconds: 1, failureThreshold: 100 },
        readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
      },
      async () => answer,
    )
    const one = p.running()
    expect(p.look(one).get('app#0')).toMatchObject({ started: false, ready: false })
    await p.pass(5)
    expect(p.events.every(({ message }) => message.startsWith('Startup'))).toBe(true)
    answer = well
    await p.pass(2)
    expect(p.look(one).get('app#0')).toMatchObject({ started: true, ready: false })
    const asked = p.asked.length
    await p.pass(5)
    expect(p.asked.length).toBe(asked)
    expect(p.events.at(-1)?.message).toMatch(/^Readiness probe errored and resulted in unknown state: /)
  })
})

test('a probe that never answers runs once at a time and keeps no other from its period', async () => {
  const p = await setUp(
    {
      livenessProbe: { httpGet, periodSeconds: 1 },
      readinessProbe: { tcpSocket: { port: 1 }, periodSeconds: 1 },
    },
    () => new Promise(() => undefined),
  )
  const one = p.running()
  p.look(one)
  await p.pass(10)
  expect(p.asked).toHaveLength(1)
  expect(p.look(one).get('app#0')).toMatchObject({ ready: true })
  const { body } = await p.metrics.text()
  expect(body).toMatch(
    /prober_probe_total\{probe_type="Readiness",container="app",pod="web",namespace="default",pod_uid="u1",result="successful"\} 1\d/,
  )
  p.prober.remove('u1')
  expect((await p.metrics.text()).body).not.toContain('pod_uid="u1"')
})

test('a container that ran before the kubelet keeps what the API knows of it until a probe says otherwise', async () => {
  const p = await setUp(
    { readinessProbe: { httpGet, periodSeconds: 3, failureThreshold: 2 } },
    async () => ill,
  )
  const old = p.running(0, p.clock.nowNanos() - 60n * second)
  const spec = specOf({
    containers: [
      { name: 'app', image: 'i', readinessProbe: { httpGet, periodSeconds: 3, failureThreshold: 2 } },
    ],
  })
  const known = { name: 'app', started: true, ready: true }
  const before = { containerStatuses: [known] } as never
  expect(p.prober.look({ spec, observed: observed([old]), before }).get('app#0')).toMatchObject({
    ready: true,
  })
  await p.pass(1)
  expect(p.prober.health('u1').get('app#0')).toMatchObject({ ready: true })
  await p.pass(4)
  expect(p.prober.health('u1').get('app#0')).toMatchObject({ ready: false })
})
