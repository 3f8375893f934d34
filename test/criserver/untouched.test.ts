// What a library on either side would hide: half-sent requests, long metadata, packed messages, an answer that fails late.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { CreateContainerResponse, StatusRequest, StatusResponse } from '../../src/cri-api/api.js'
import { startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { manyContainers } from '../../src/fakes/cri/shapes.js'
import { answerFrames, beginCall, startFrameRuntime } from './frame-peers.js'
import { frame, openSession, type RawAnswer, rawCall, statusIn } from './raw-client.js'
import { answerWith, type Play, startRawUpstream } from './scripted-upstream.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function fixture(trailers: readonly string[] = ['grpc-status', '0']) {
  const runtime = await startFrameRuntime(() => ({
    whole: (id, socket) => void socket.write(answerFrames(id, ...trailers)),
  }))
  closers.push(() => runtime.close())
  const server = await startServerFixture(runtime.endpoint)
  closers.push(() => server.close())
  return { runtime, server }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !isSo(); i++) await sleep(5)
  assert.ok(isSo(), isSo.toString())
}

describe('a request that its caller gives up half way', () => {
  test('is cancelled in the runtime, and never looks whole there', async () => {
    const { runtime, server } = await fixture()
    const call = await beginCall(server.socketPath, '/x.Y/Upload')
    closers.push(() => call.close())
    call.write(frame(Buffer.from('one')))
    await until(() => runtime.seen.includes('DATA 8'))
    call.cancel()
    await until(() => runtime.seen.includes('RESET 8'))
    assert.deepEqual(runtime.seen, ['DATA 8', 'RESET 8'])
  })

  test('by a client that vanishes: the same', async () => {
    const { runtime, server } = await fixture()
    const call = await beginCall(server.socketPath, '/x.Y/Upload')
    call.write(frame(Buffer.from('one')))
    await until(() => runtime.seen.includes('DATA 8'))
    call.close()
    await until(() => runtime.seen.includes('RESET 8'))
    assert.deepEqual(runtime.seen, ['DATA 8', 'RESET 8'])
  })

  test('is not sent on at all where we read it first', async () => {
    const { runtime, server } = await fixture()
    const call = await beginCall(server.socketPath, '/runtime.v1.RuntimeService/CreateContainer')
    closers.push(() => call.close())
    call.write(frame(Buffer.from('')))
    await until(() => server.server.counts.calls === 1)
    call.cancel()
    await until(() => server.server.counts.calls === 0)
    assert.deepEqual(runtime.seen, [])
    assert.deepEqual(server.errors, [])
  })
})

const fieldIn = ({ trailers }: RawAnswer, name: string): string | undefined =>
  trailers[trailers.indexOf(name) + 1]

describe('long metadata', () => {
  async function call(socketPath: string, metadata: Record<string, string> = {}): Promise<RawAnswer> {
    const session = await openSession(socketPath)
    closers.push(() => session.destroy())
    return await rawCall(session, '/x.Y/Z', frame(Buffer.alloc(0)), metadata)
  }

  test('a status text of 60 KiB arrives whole', async () => {
    const text = 'm'.repeat(60 * 1024)
    const { server } = await fixture(['grpc-status', '13', 'grpc-message', text])
    assert.equal(fieldIn(await call(server.socketPath), 'grpc-message'), text)
  })

  test('1,000 fields go both ways', async () => {
    const fields = Array.from({ length: 1000 }, (_, i) => [`x-${i}`, `v${i}`])
    const { server } = await fixture(['grpc-status', '0', ...fields.flat()])
    const answer = await call(server.socketPath, Object.fromEntries(fields) as Record<string, string>)
    assert.equal(fieldIn(answer, 'x-999'), 'v999')
  })

  test('metadata twice by a name that HTTP has only once: both values arrive', async () => {
    const { server } = await fixture([
      'grpc-status',
      '0',
      'location',
      'a',
      'location',
      'b',
      'x',
      '1',
      'x',
      '2',
    ])
    const { trailers } = await call(server.socketPath)
    assert.deepEqual(trailers, ['grpc-status', '0', 'location', 'a, b', 'x', '1', 'x', '2'])
  })

  test('a request with 100 KiB of it is answered', async () => {
    const { server } = await fixture()
    const big = { 'x-a': 'v'.repeat(50_000), 'x-b': 'v'.repeat(50_000) }
    assert.equal(fieldIn(await call(server.socketPath, big), 'grpc-status'), '0')
  })
})

describe('packed messages', () => {
  const packed = (message: Uint8Array): Buffer => {
    const framed = frame(gzipSync(message))
    framed[0] = 1
    return framed
  }
  const metadata = { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'gzip' }

  async function through(path: string, play: Play, body: Buffer, mode: 'complete' | 'observe' = 'complete') {
    const upstream = await startRawUpstream({ [path]: play })
    closers.push(() => upstream.close())
    const server = await startServerFixture(upstream.endpoint, { services: { mode } })
    closers.push(() => server.close())
    const session = await openSession(server.socketPath)
    closers.push(() => session.destroy())
    return await rawCall(session, path, body, metadata)
  }

  for (const mode of ['complete', 'observe'] as const)
    test(`${mode}: the runtime gets them as they came, the caller too`, async () => {
      const request = packed(Buffer.from([0x0a, 1, 0x62]))
      const answer = packed(CreateContainerResponse.encode({ containerId: 'c1' }).finish())
      const asked: unknown[] = []
      const play: Play = (stream, headers, body) => {
        asked.push(headers['grpc-encoding'], headers['grpc-accept-encoding'], body)
        answerWith(stream, answer, { 'grpc-status': '0' }, { 'grpc-encoding': 'gzip' })
      }
      const got = await through('/runtime.v1.RuntimeService/CreateContainer', play, request, mode)
      assert.deepEqual(asked, ['gzip', 'gzip', request])
      assert.deepEqual(got.body, answer)
      assert.equal(got.headers[got.headers.indexOf('grpc-encoding') + 1], 'gzip')
    })

  test('a packed answer is completed, and goes on unpacked', async () => {
    const answer = packed(StatusResponse.encode(StatusResponse.fromPartial({ info: { a: '1' } })).finish())
    const play: Play = (stream) => {
      answerWith(stream, answer, { 'grpc-status': '0' }, { 'grpc-encoding': 'gzip' })
    }
    const request = packed(StatusRequest.encode({ verbose: true }).finish())
    const got = await through('/runtime.v1.RuntimeService/Status', play, request)
    assert.equal(statusIn(got), '0')
    assert.ok(!got.headers.includes('grpc-encoding'))
    const { info } = StatusResponse.decode(got.body.subarray(5))
    assert.equal(info.a, '1')
    assert.match(info.keelson ?? '', /cgroupDriver/)
  })
})

test('the end of the server waits for calls under way, not for readers of events', async () => {
  const upstream = await startRawUpstream({
    '/runtime.v1.RuntimeService/GetContainerEvents': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.write(frame(Buffer.from('event')))
    },
    '/runtime.v1.RuntimeService/ExecSync': async (stream) => {
      await sleep(500)
      answerWith(stream, frame(Buffer.from('done')))
    },
  })
  closers.push(() => upstream.close())
  const server = await startServerFixture(upstream.endpoint)
  closers.push(() => server.close())
  const session = await openSession(server.socketPath)
  closers.push(() => session.destroy())
  const [events, exec] = ['GetContainerEvents', 'ExecSync'].map((rpc) =>
    rawCall(session, `/runtime.v1.RuntimeService/${rpc}`, frame(Buffer.alloc(0))),
  )
  await until(() => upstream.streams === 2)
  const begun = performance.now()
  await server.server.close(20_000)
  assert.ok(performance.now() - begun < 10_000)
  const [told, done] = [await events, await exec]
  assert.equal(told && statusIn(told), '14')
  assert.equal(done && statusIn(done), '0')
})

test('a runtime that fails in the middle of a list: the stream ends with its status after what came before', async () => {
  const containers = manyContainers(4000)
  const sandboxes = [...new Set(containers.map((c) => c.podSandboxId ?? ''))]
  const runtime = await startFakeRuntime({
    ListPodSandbox: { value: { items: sandboxes.map((id) => ({ id })) } },
    ListContainers: ({ filter }) =>
      filter?.podSandboxId === sandboxes.at(-1)
        ? { code: 'INTERNAL', message: 'the disk is gone' }
        : { value: { containers: containers.filter((c) => c.podSandboxId === filter?.podSandboxId) } },
  })
  closers.push(() => runtime.close())
  const server = await startServerFixture(runtime.endpoint)
  closers.push(() => server.close())
  const client = createCriClient(server.endpoint)
  closers.push(() => client.close())
  let messages = 0
  const read = async (): Promise<void> => {
    for await (const message of client.runtime.streamContainers({}))
      messages += message.containers.length > 0 ? 1 : 0
  }
  await assert.rejects(read(), (e) => isKeelsonError(e) && /the disk is gone/.test(e.message))
  assert.ok(messages > 0)
})
