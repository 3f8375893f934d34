// Requests that are larger than what the server reads: the caller is told, whoever the caller is.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { frame, openSession, rawCall, statusIn } from './raw-client.js'
import { answerWith, startRawUpstream } from './scripted-upstream.js'
import { startServerFixture } from './server-fixture.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const update = '/runtime.v1.RuntimeService/UpdatePodSandboxResources'
const forwarded = '/x.Y/Upload'
const request = frame(Buffer.alloc(20 * 1024 * 1024))

async function fixture() {
  let calls = 0
  const upstream = await startRawUpstream({
    [forwarded]: (stream, _headers, body) => {
      calls += 1
      answerWith(stream, frame(Buffer.from(String(body.length))))
    },
    [update]: () => {
      calls += 1
    },
  })
  closers.push(() => upstream.close())
  const server = await startServerFixture(upstream.endpoint)
  closers.push(() => server.close())
  return { server, callsOfRuntime: () => calls }
}

describe('a request of 20 MiB', () => {
  test('to a method that the server reads: RESOURCE_EXHAUSTED, and the connection lives on', async () => {
    const { server, callsOfRuntime } = await fixture()
    const session = await openSession(server.socketPath)
    closers.push(() => session.destroy())
    for (let i = 0; i < 3; i++) {
      const answer = await rawCall(session, update, request)
      assert.equal(statusIn(answer), '8', JSON.stringify(answer))
      assert.match(answer.headers.join(' '), /larger than 16777216 bytes/)
    }
    assert.equal(callsOfRuntime(), 0)
    assert.equal(statusIn(await rawCall(session, '/x.Y/Unknown', frame(Buffer.alloc(0)))), '12')
    assert.equal(server.server.counts.calls, 0)
    assert.deepEqual(server.errors, [])
  })

  test('by a gRPC library: RESOURCE_EXHAUSTED', async () => {
    const { server } = await fixture()
    const client = createCriClient(server.endpoint)
    closers.push(() => client.close())
    const annotations = { big: 'x'.repeat(20 * 1024 * 1024) }
    const error = await client.runtime.createContainer({ config: { annotations } }).then(
      () => undefined,
      (e: unknown) => e,
    )
    assert.ok(isKeelsonError(error), String(error))
    assert.match(error.message, /larger than 16777216 bytes/)
  })

  test('to a method that goes by unread: the runtime gets all of it', async () => {
    const { server } = await fixture()
    const session = await openSession(server.socketPath)
    closers.push(() => session.destroy())
    const answer = await rawCall(session, forwarded, request)
    assert.equal(statusIn(answer), '0')
    assert.deepEqual(answer.body, frame(Buffer.from(String(request.length))))
  })
})
