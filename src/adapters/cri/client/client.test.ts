// The client against a runtime that behaves: every method, streams, deadlines, cancellation, state.
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { ImageServiceDefinition, RuntimeServiceDefinition } from '../../../cri-api/api.js'
import type { Scripts } from '../../../fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../../fakes/cri/fake-runtime.js'
import { manyContainers, runtimeConfig, unknownField } from '../../../fakes/cri/shapes.js'
import type { CallOptions, ConnectionState, CriClient } from '../../../ports/runtime.js'
import { type CriClientOptions, createCriClient } from './client.js'

const open: { close(): void | Promise<void> }[] = []
afterEach(async () => {
  for (const o of open.splice(0)) await o.close()
})

async function pair(
  scripts: Scripts = {},
  options: CriClientOptions = {},
): Promise<{ rt: FakeRuntime; cri: CriClient }> {
  const rt = await startFakeRuntime(scripts)
  const cri = createCriClient(rt.endpoint, { timeoutMs: 5000, ...options })
  open.push(cri, rt)
  return { rt, cri }
}

const openFiles = (): number => readdirSync('/proc/self/fd').length

describe('calls', () => {
  test('a unary call carries request, answer, deadline and the localhost authority', async () => {
    const { rt, cri } = await pair({ Version: { value: { runtimeName: 'fake', runtimeVersion: '1' } } })
    const answer = await cri.runtime.version({ version: '0.1.0' }, { timeoutMs: 2000 })
    expect(answer.runtimeName).toBe('fake')
    const [call] = rt.callsOf('Version')
    expect(call?.request.version).toBe('0.1.0')
    expect(call?.authority).toBe('localhost')
    expect(call?.grpcTimeout).toMatch(/^(2S|1\d{3}m|2000m)$/)
  })

  test('all 43 methods reach the path of their name', async () => {
    const { rt, cri } = await pair()
    const names: string[] = []
    for (const [service, definition] of [
      [cri.runtime, RuntimeServiceDefinition],
      [cri.image, ImageServiceDefinition],
    ] as const)
      for (const [key, method] of Object.entries(definition.methods)) {
        names.push(method.name)
        const call = (service as Record<string, unknown>)[key] as (q: object, o: CallOptions) => unknown
        const result = call({}, { timeoutMs: 2000 })
        const failure = method.responseStream
          ? drain(result as AsyncIterable<unknown>)
          : (result as Promise<unknown>)
        await expect(failure, method.name).rejects.toMatchObject({ code: 'runtime.unimplemented' })
      }
    expect(rt.calls.map((c) => c.method)).toEqual(names)
    expect(names).toHaveLength(43)
  })

  test('unknown fields, unknown enum numbers, absent and empty messages arrive as such', async () => {
    const { cri } = await pair({
      RuntimeConfig: [
        runtimeConfig.absentLinux,
        runtimeConfig.emptyLinux,
        runtimeConfig.unknownDriver(9),
        { value: { linux: { cgroupDriver: 1 } }, appendBytes: unknownField },
      ],
    })
    const ask = () => cri.runtime.runtimeConfig({})
    expect((await ask()).linux).toBeUndefined()
    expect((await ask()).linux).toMatchObject({ cgroupDriver: 0 })
    expect((await ask()).linux?.cgroupDriver).toBe(9)
    const newer = await ask()
    expect(newer.linux?.cgroupDriver).toBe(1)
    expect(Object.values(newer._unknownFields ?? {})).toHaveLength(1)
  })

  test('10,000 items in one answer', async () => {
    const containers = manyContainers(10_000)
    const { cri } = await pair({ ListContainers: { value: { containers } } })
    const answer = await cri.runtime.listContainers({})
    expect(answer.containers).toHaveLength(10_000)
    expect(answer.containers[9999]?.createdAt).toBe(1_700_000_000_000_009_999n)
  })

  test('200 calls at once', async () => {
    const { cri } = await pair({
      ListContainers: (q) => ({ delayMs: 20, value: { containers: [{ id: q.filter?.id ?? '' }] } }),
    })
    const ids = Array.from({ length: 200 }, (_, i) => `c${i}`)
    const answers = await Promise.all(ids.map((id) => cri.runtime.listContainers({ filter: { id } })))
    expect(answers.map((a) => a.containers[0]?.id)).toEqual(ids)
  })

  test('an error of the runtime keeps its code, text and details', async () => {
    const statusDetails = Buffer.from([8, 5, 18, 1, 120])
    const { rt, cri } = await pair({
      StopContainer: { code: 'FAILED_PRECONDITION', message: 'näh: 100 %', statusDetails },
    })
    await expect(cri.runtime.stopContainer({ containerId: 'x' })).rejects.toMatchObject({
      code: 'runtime.failed',
      message: expect.stringContaining(
        `call StopContainer at ${rt.socketPath}: FAILED_PRECONDITION: näh: 100 %`,
      ),
      details: {
        method: 'StopContainer',
        socket: rt.socketPath,
        grpcCode: 'FAILED_PRECONDITION',
        grpcMessage: 'näh: 100 %',
        statusDetails,
      },
    })
  })

  test('a runtime that quotes a transport error is not taken for one', async () => {
    const { cri } = await pair({
      PullImage: {
        code: 'UNKNOWN',
        message: 'pull: No connection established. Last error: connect ECONNREFUSED',
      },
    })
    await expect(cri.image.pullImage({})).rejects.toMatchObject({ code: 'runtime.failed' })
  })

  test('a call without a sound timeout is a bug', async () => {
    const { cri } = await pair()
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(cri.runtime.version({}, { timeoutMs })).rejects.toThrow('timeout above 0')
  })
})

const drain = async (stream: AsyncIterable<unknown>): Promise<number> => {
  let n = 0
  for await (const _ of stream) n++
  return n
}

describe('streams', () => {
  test('10,000 items in 100 messages, in order', async () => {
    const all = manyContainers(10_000)
    const values = Array.from({ length: 100 }, (_, i) => ({ containers: all.slice(i * 100, i * 100 + 100) }))
    const { cri } = await pair({ StreamContainers: { values } })
    const ids: string[] = []
    for await (const part of cri.runtime.streamContainers({})) ids.push(...part.containers.map((c) => c.id))
    expect(ids).toEqual(all.map((c) => c.id))
  })

  test('leaving the loop cancels the call at the runtime', async () => {
    const { rt, cri } = await pair({
      StreamContainers: { values: [{ containers: [{ id: 'a' }] }], ending: 'hang' },
    })
    for await (const part of cri.runtime.streamContainers({}, { timeoutMs: Number.POSITIVE_INFINITY })) {
      expect(part.containers[0]?.id).toBe('a')
      break
    }
    await expect.poll(() => rt.callsOf('StreamContainers')[0]?.cancelled).toBe(true)
  })

  test('a slow reader holds the runtime back', async () => {
    let sent = 0
    const big = 'x'.repeat(1024 * 1024)
    function* values() {
      for (; sent < 64; sent++) yield { containers: [{ id: big }] }
    }
    const { cri } = await pair({ StreamContainers: () => ({ values: values() }) })
    let read = 0
    // 64 MiB of text: seconds on a machine with other work.
    for await (const _ of cri.runtime.streamContainers({}, { timeoutMs: 60_000 })) {
      if (++read === 1) await sleep(300)
      if (read === 1) expect(sent).toBeLessThan(48)
    }
    expect(read).toBe(64)
  })

  test('an end with an error throws it after the messages', async () => {
    const { cri } = await pair({
      StreamImages: { values: [{}, {}], ending: { code: 'INTERNAL', message: 'lost it' } },
    })
    let seen = 0
    await expect(async () => {
      for await (const _ of cri.image.streamImages({})) seen++
    }).rejects.toMatchObject({ code: 'runtime.failed', details: { grpcCode: 'INTERNAL' } })
    expect(seen).toBe(2)
  })

  test('a stream has a deadline, can be aborted, and may stay open for ever', async () => {
    const { cri } = await pair({ GetContainerEvents: { values: [], ending: 'hang' } })
    await expect(drain(cri.runtime.getContainerEvents({}, { timeoutMs: 100 }))).rejects.toMatchObject({
      code: 'runtime.deadline',
    })
    const stop = new AbortController()
    const events = drain(
      cri.runtime.getContainerEvents({}, { timeoutMs: Number.POSITIVE_INFINITY, signal: stop.signal }),
    )
    setTimeout(() => stop.abort(), 50)
    await expect(events).rejects.toMatchObject({ code: 'runtime.cancelled' })
  })
})

describe('cancellation and closing', () => {
  test('an abort ends the call here and at the runtime', async () => {
    const { rt, cri } = await pair({ ExecSync: { hang: true } })
    const stop = new AbortController()
    const call = cri.runtime.execSync({ cmd: ['sleep'] }, { signal: stop.signal })
    // Below, its end is looked for in the runtime.
    await expect.poll(() => rt.callsOf('ExecSync').length).toBe(1)
    stop.abort()
    await expect(call).rejects.toMatchObject({
      code: 'runtime.cancelled',
      details: { grpcCode: 'CANCELLED' },
    })
    await expect.poll(() => rt.callsOf('ExecSync')[0]?.cancelled).toBe(true)
    await expect(cri.runtime.version({}, { signal: stop.signal })).rejects.toMatchObject({
      code: 'runtime.cancelled',
    })
    expect(rt.callsOf('Version')).toHaveLength(0)
  })

  test('closed by a listener of its state: the call that waited for the connection is cancelled', async () => {
    const { cri } = await pair({ Version: { value: {} } })
    cri.onState((state) => {
      if (state === 'ready') cri.close()
    })
    await expect(cri.runtime.version({})).rejects.toMatchObject({ code: 'runtime.cancelled' })
  })

  test('after a call has passed its deadline new calls take another connection; the old one keeps its calls', async () => {
    const { rt, cri } = await pair({ ExecSync: { hang: true }, Version: { value: {} } })
    const slow = cri.runtime.execSync({ cmd: ['slow'] })
    const slowEnds = expect(slow).rejects.toMatchObject({ code: 'runtime.cancelled' })
    await expect.poll(() => rt.callsOf('ExecSync').length).toBe(1)
    await expect(cri.runtime.execSync({ cmd: ['late'] }, { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'runtime.deadline',
    })
    await cri.runtime.version({})
    expect(rt.connections).toBe(2)
    expect(rt.callsOf('ExecSync')[0]?.cancelled).toBe(false)
    cri.close()
    await slowEnds
  })

  test('a CANCELLED that the runtime sends is the runtime’s', async () => {
    const { cri } = await pair({ Version: { code: 'CANCELLED', message: 'context canceled' } })
    await expect(cri.runtime.version({})).rejects.toMatchObject({ code: 'runtime.failed' })
  })

  test('close ends calls and streams under way and frees the socket', async () => {
    const { rt, cri } = await pair({ Version: { value: {} }, ExecSync: { hang: true } })
    await cri.runtime.version({})
    const other = createCriClient(rt.endpoint)
    const before = openFiles()
    await other.runtime.version({})
    expect(openFiles()).toBe(before + 2) // both ends of the connection are ours
    const hanging = other.runtime.execSync({})
    setTimeout(() => other.close(), 30)
    await expect(hanging).rejects.toMatchObject({ code: 'runtime.cancelled' })
    await expect.poll(openFiles).toBe(before)
    expect(other.state).toBe('closed')
    await expect(other.runtime.version({})).rejects.toMatchObject({ code: 'runtime.cancelled' })
    other.close()
    expect(cri.state).toBe('ready')
  })
})

test('the state tells of connecting, ready, lost and found again', async () => {
  const { rt, cri } = await pair({ Version: { value: {} } })
  const seen: ConnectionState[] = []
  const forget = cri.onState((s) => seen.push(s))
  expect(cri.state).toBe('idle')
  await cri.runtime.version({})
  expect(cri.state).toBe('ready')
  await rt.stop()
  await expect.poll(() => cri.state).toBe('idle')
  await expect(cri.runtime.version({})).rejects.toMatchObject({ code: 'runtime.unavailable' })
  expect(cri.state).toBe('backoff')
  await rt.start()
  await cri.runtime.version({}, { waitForReady: true })
  expect(seen).toEqual(['connecting', 'ready', 'idle', 'connecting', 'backoff', 'ready'])
  forget()
  cri.close()
  expect(seen.at(-1)).toBe('ready')
})
