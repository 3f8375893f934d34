// The end of containers within one grace period: hooks, order and the time that is left, with a clock that the test moves.
import { describe, expect, test } from 'vitest'
import { calm } from '../../../../test/support/open-work.js'
import { container, observed, second, specOf } from '../../../../test/support/pod-manifest.js'
import { keelsonError } from '../../../core/errors.js'
import { FakeClock } from '../../../fakes/clock.js'
import type { PodEvent } from '../../events/pod-events.js'
import type { PodContext } from '../context.js'
import type { StopTarget } from '../decide/actions.js'
import { stopContainers } from './stop-containers.js'

const image = 'i'
const sleep = (seconds: number) => ({ lifecycle: { preStop: { sleep: { seconds } } } })
const exec = { lifecycle: { preStop: { exec: { command: ['hook'] } } } }

/** A container ends when it is told to, after so many seconds. */
function setUp(
  spec: object,
  lasts: Readonly<Record<string, number>> = {},
  hook: (signal: AbortSignal) => Promise<number> = async () => 0,
) {
  const clock = new FakeClock()
  const log: string[] = []
  const events: PodEvent[] = []
  const at = (): string => `${clock.monotonicNanos() / second}s`
  const silent = (): void => undefined
  const context = {
    clock,
    log: { info: silent, warn: silent },
    events: { pod: (_: unknown, event: PodEvent) => void events.push(event) },
    hostIPs: [],
    timeoutMs: 1000,
    release: '1.37',
    runtime: {
      stopContainer: async ({ containerId, timeout }: { containerId: string; timeout: bigint }) => {
        log.push(`${at()} stop ${containerId} ${timeout}s`)
        await clock.sleep((lasts[containerId] ?? 0) * 1000)
        log.push(`${at()} end ${containerId}`)
        return {}
      },
      execSync: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
        log.push(`${at()} hook`)
        return { exitCode: await hook(signal), stdout: Buffer.of(), stderr: Buffer.of() }
      },
    },
  } as unknown as PodContext
  const parsed = specOf({ ...spec })
  const run = async (targets: readonly StopTarget[], graceSeconds: number, seconds = 60) => {
    const seen = observed(targets.map(({ name, kind }) => container({ name, kind })))
    const { signal } = new AbortController()
    const action = { kind: 'stop-containers', targets, graceSeconds, why: '' } as const
    const done = stopContainers(action, { spec: parsed, observed: seen }, context, signal)
    for (let i = 0; i < seconds; i += 1) {
      await calm({ open: 0 })
      await clock.advance(1000)
      await calm({ open: 0 })
    }
    await done
    return log
  }
  return { run, events }
}

const untilCanceled = (signal: AbortSignal): Promise<number> =>
  new Promise((_, reject) => {
    const canceled = keelsonError('runtime.cancelled', 'cancelled')
    signal.addEventListener('abort', () => reject(canceled), { once: true })
  })

const target = (name: string, kind: StopTarget['kind'] = 'app'): StopTarget => ({
  id: `${name}#0`,
  name,
  kind,
})
const one = (more: object) => ({ containers: [{ name: 'a', image, ...more }] })

describe('order', () => {
  const spec = {
    initContainers: [
      { name: 's1', image, restartPolicy: 'Always', ...sleep(1) },
      { name: 's2', image, restartPolicy: 'Always' },
    ],
    containers: [
      { name: 'a', image },
      { name: 'b', image },
    ],
  }
  const targets = [target('a'), target('b'), target('s2', 'sidecar'), target('s1', 'sidecar')]

  test('apps together, then one sidecar after the other, with what is left of the time', async () => {
    const { run } = setUp(spec, { 'a#0': 2, 'b#0': 5, 's2#0': 1 })
    expect(await run(targets, 30)).toEqual([
      '0s stop a#0 30s',
      '0s stop b#0 30s',
      '2s end a#0',
      '5s end b#0',
      '5s stop s2#0 25s',
      '6s end s2#0',
      '6s stop s1#0 24s',
      '6s end s1#0',
    ])
  })

  test('a sidecar does not wait longer than the grace period, and has two seconds even then', async () => {
    const { run } = setUp(spec, { 'a#0': 20 })
    expect(await run(targets, 10)).toEqual([
      '0s stop a#0 10s',
      '0s stop b#0 10s',
      '0s end b#0',
      '10s stop s2#0 2s',
      '10s stop s1#0 2s',
      '10s end s2#0',
      '10s end s1#0',
      '20s end a#0',
    ])
  })
})

describe('preStop', () => {
  test('what it used is subtracted', async () => {
    const { run } = setUp(one(sleep(4)))
    expect(await run([target('a')], 10)).toEqual(['4s stop a#0 6s', '4s end a#0'])
  })

  test('one that hangs ends with its container, which has two seconds; then it has failed', async () => {
    const { run, events } = setUp(one(exec), { 'a#0': 2 }, untilCanceled)
    expect(await run([target('a')], 5)).toEqual(['0s hook', '5s stop a#0 2s', '7s end a#0'])
    expect(events.map(({ reason }) => reason)).toEqual(['Killing', 'FailedPreStopHook'])
  })

  test('a pause that is longer than the grace period is no failure', async () => {
    const { run, events } = setUp(one(sleep(100)))
    expect(await run([target('a')], 5)).toEqual(['5s stop a#0 2s', '5s end a#0'])
    expect(events.map(({ reason }) => reason)).toEqual(['Killing'])
  })

  test('without a grace period it does not run', async () => {
    const { run } = setUp(one(exec))
    expect(await run([target('a')], 0)).toEqual(['0s stop a#0 2s', '0s end a#0'])
  })

  test('a failed one is an event that says no more than that, and the container ends', async () => {
    const { run, events } = setUp(one(exec), {}, async () => 1)
    expect(await run([target('a')], 5)).toEqual(['0s hook', '0s stop a#0 5s', '0s end a#0'])
    expect(events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual([
      'Normal Killing: Stopping container a',
      'Warning FailedPreStopHook: PreStopHook failed',
    ])
  })
})
