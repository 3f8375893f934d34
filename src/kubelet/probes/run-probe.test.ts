// A gRPC probe of a server that is not there yet: dialled again while there is time, with the kubelet's words at the end.
import { expect, test } from 'vitest'
import { calm } from '../../../test/support/open-work.js'
import { specOf } from '../../../test/support/pod-manifest.js'
import { FakeClock } from '../../fakes/clock.js'
import type { HealthAnswer } from '../../ports/network/probe-calls.js'
import { runProbe } from './run-probe.js'

const refused: HealthAnswer = { kind: 'not-connected', why: 'other', message: 'connection refused' }
const serving: HealthAnswer = { kind: 'status', status: 1 }

async function probe(answers: readonly HealthAnswer[], timeoutSeconds: number, seconds: number) {
  const clock = new FakeClock()
  const asked: number[] = []
  const spec = specOf({
    containers: [{ name: 'app', image: 'i', livenessProbe: { grpc: { port: 9000 }, timeoutSeconds } }],
  })
  const [container] = spec.containers
  const livenessProbe = container?.probes.liveness
  if (container === undefined || livenessProbe === undefined) throw new Error('there is no probe')
  const none = (): never => {
    throw new Error('only gRPC is asked')
  }
  const ports = {
    runtime: { execSync: none },
    clock,
    release: '1.37',
    calls: {
      get: none,
      connect: none,
      health: async () => {
        asked.push(Number(clock.monotonicNanos() / 1_000_000_000n))
        return answers[asked.length - 1] ?? refused
      },
    },
  }
  const of = { container, containerId: 'c', podIP: '10.0.0.7' }
  const done = runProbe(livenessProbe, of, ports, new AbortController().signal)
  for (let i = 0; i < seconds; i += 1) {
    await calm({ open: 0 })
    await clock.advance(1000)
  }
  return { outcome: await done, asked }
}

test('a server that comes up in time is healthy', async () => {
  expect(await probe([refused, refused, serving], 5, 3)).toEqual({
    outcome: { kind: 'success' },
    asked: [0, 1, 2],
  })
})

test('one that does not is a timeout, in the words of the kubelet', async () => {
  const { outcome, asked } = await probe([], 3, 4)
  expect(asked).toEqual([0, 1, 2])
  expect(outcome).toEqual({
    kind: 'failure',
    output: 'timeout: failed to connect service "10.0.0.7:9000" within 3s: context deadline exceeded',
  })
})

test('an error of the server has its code', async () => {
  const answer: HealthAnswer = { kind: 'refused', code: 5, message: 'unknown service' }
  expect((await probe([answer], 1, 1)).outcome).toEqual({
    kind: 'failure',
    output: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
  })
})
