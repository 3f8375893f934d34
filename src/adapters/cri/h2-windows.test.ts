// How much may be sent ahead, both ways, and how many calls at once.
import { randomBytes } from 'node:crypto'
import type { ServerHttp2Stream } from 'node:http2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ask, echo, fields, type H2Bed, openH2Bed, see, window } from '../../../test/support/h2-bed.js'

let bed: H2Bed
beforeEach(async () => {
  bed = await openH2Bed()
})
afterEach(() => bed.close())

describe('windows', () => {
  test('9 MB each way through a server of small windows', async () => {
    await bed.serve(echo, { settings: { initialWindowSize: 20_000 } })
    const body = randomBytes(9_000_000)
    const seen = await ask(await bed.dial(), '/x', body)
    expect(seen.body.equals(body)).toBe(true)
  })

  test('what is not given back stops the runtime, and only this call', async () => {
    let written = 0
    await bed.serve((stream, headers) => {
      stream.respond({ ':status': 200 })
      if (headers[':path'] !== '/endless') return void stream.end('quick')
      const more = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(16_384))) written += 16_384
        if (!stream.destroyed) stream.once('drain', more)
      }
      more()
    })
    const connection = await bed.dial()
    const slow = connection.request(fields('/endless'), undefined, true, () => {})
    void see(slow, true)
    for (let i = 0; i < 5; i++) expect((await ask(connection, '/quick')).body.toString()).toBe('quick')
    expect(written).toBeLessThan(window + 256 * 1024)
    slow.cancel(8)
    expect((await ask(connection, '/quick')).body.toString()).toBe('quick')
  })

  test('a smaller window for calls under way and new ones, and the larger one again', async () => {
    await bed.serve(echo)
    const connection = await bed.dial()
    connection.setWindow(10_000)
    const body = randomBytes(3 * window)
    expect((await ask(connection, '/x', body)).body.equals(body)).toBe(true)
    connection.setWindow(window)
    expect((await ask(connection, '/x', body)).body.equals(body)).toBe(true)
    expect(connection.unacknowledged).toBe(0)
  })

  test('a window made smaller in the middle of an answer: what was held back for a larger one is given back', async () => {
    let say: ((bytes: number) => void) | undefined
    await bed.serve((stream) => {
      stream.respond({ ':status': 200 })
      say = (bytes) => void stream.write(Buffer.alloc(bytes))
    })
    const connection = await bed.dial()
    const stream = connection.request(fields('/events'), undefined, true, () => {})
    let got = 0
    stream.attach({
      headers() {},
      data(portion) {
        got += portion.size
        stream.consumed(portion.size)
      },
      end() {},
      broken() {},
    })
    const until = (bytes: number): Promise<void> => expect.poll(() => got).toBe(bytes)
    while (say === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    say(400_000)
    await until(400_000)
    connection.setWindow(65_536)
    say(1000)
    await until(401_000)
  })

  test('a request that the runtime does not take makes its writer wait', async () => {
    let taker: ServerHttp2Stream | undefined
    await bed.serve((stream) => {
      taker = stream
      stream.respond({ ':status': 200 })
    })
    const connection = await bed.dial()
    const stream = connection.request(fields('/x'), undefined, false, () => {})
    void see(stream)
    let isFull = false
    for (let i = 0; i < 100 && !isFull; i++) isFull = !stream.write(Buffer.alloc(16_384))
    expect(isFull).toBe(true)
    const drained = new Promise<void>((resolve) => {
      stream.onDrain = resolve
    })
    while (taker === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    taker.resume()
    await drained
  })

  test('no more calls at once than the runtime allows; the others follow', async () => {
    let most = 0
    let now = 0
    await bed.serve(
      (stream) => {
        most = Math.max(most, ++now)
        setTimeout(() => {
          now -= 1
          stream.respond({ ':status': 200 }, { endStream: true })
        }, 5)
      },
      { settings: { maxConcurrentStreams: 3 } },
    )
    const connection = await bed.dial()
    await ask(connection, '/first')
    const all = await Promise.all(Array.from({ length: 20 }, () => ask(connection, '/x')))
    expect(all.every((s) => s.ending === 'whole')).toBe(true)
    expect(most).toBe(3)
    // Given up while it waits: its turn never comes, and nobody misses it.
    const under = [1, 2, 3].map(() => ask(connection, '/x'))
    const left: boolean[] = []
    const waiting = connection.request(fields('/x'), undefined, true, (wasReset) => left.push(wasReset))
    waiting.cancel(8)
    expect(left).toEqual([false])
    await Promise.all(under)
    expect((await ask(connection, '/x')).ending).toBe('whole')
  })
})
