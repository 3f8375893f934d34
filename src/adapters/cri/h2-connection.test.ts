// One call and its ending. Windows have a file of their own.
import { randomBytes } from 'node:crypto'
import { constants, sensitiveHeaders } from 'node:http2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ask,
  echo,
  field,
  fields,
  type H2Bed,
  openH2Bed,
  type Play,
  see,
  window,
} from '../../../test/support/h2-bed.js'

let bed: H2Bed
beforeEach(async () => {
  bed = await openH2Bed()
})
afterEach(() => bed.close())

describe('a call', () => {
  test.each([1, 7, 1000, Number.POSITIVE_INFINITY])(
    'goes and comes byte by byte, cut into pieces of %s',
    async (cut) => {
      await bed.serve(echo)
      const body = randomBytes(60_000)
      const seen = await ask(await bed.dial(cut), '/x', body, 'x-key', 'one', 'x-key', 'two')
      expect(seen.ending).toBe('whole')
      expect(seen.body.equals(body)).toBe(true)
      expect(seen.headers.filter((v) => v === 'x-twice')).toHaveLength(2)
      const sent = JSON.parse(field(seen.trailers, 'x-raw') ?? '[]') as string[]
      expect(sent.slice(-4)).toEqual(['x-key', 'one', 'x-key', 'two'])
    },
  )

  test('without a body, and an answer of headers alone', async () => {
    await bed.serve((stream) => stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true }))
    const seen = await ask(await bed.dial(), '/x')
    expect(seen).toMatchObject({ ending: 'whole', isHeadersOnly: true })
    expect(field(seen.headers, 'grpc-status')).toBe('12')
  })

  test('an answer that ends without trailers', async () => {
    await bed.serve((stream) => {
      stream.respond({ ':status': 200 })
      stream.end('all')
    })
    const seen = await ask(await bed.dial(), '/x', Buffer.from('q'))
    expect([seen.ending, seen.body.toString(), seen.trailers]).toEqual(['whole', 'all', []])
  })

  test('an informational answer before the real one is passed over', async () => {
    await bed.serve((stream) => {
      stream.additionalHeaders({ ':status': 103 })
      stream.respond({ ':status': 200 })
      stream.end()
    })
    expect(field((await ask(await bed.dial(), '/x')).headers, ':status')).toBe('200')
  })

  test('fields larger than a frame, both ways; secret ones keep their mark', async () => {
    await bed.serve((stream, headers) => {
      stream.respond(
        { ':status': 200, 'x-big': headers['x-big'], 'x-secret': 's', [sensitiveHeaders]: ['x-secret'] },
        { endStream: true },
      )
    })
    const big = 'b'.repeat(40_000)
    const connection = await bed.dial()
    const stream = connection.request(fields('/x', 'x-big', big), new Set(['x-big']), true, () => {})
    const seen = await see(stream)
    expect(field(seen.headers, 'x-big')).toBe(big)
    expect(seen.sensitive).toEqual(['x-secret'])
  })

  test('padded frames count for the window and are no part of the answer', async () => {
    await bed.serve(echo, { paddingStrategy: constants.PADDING_STRATEGY_MAX })
    const body = randomBytes(4 * window)
    const seen = await ask(await bed.dial(333), '/x', body)
    expect(seen.body.equals(body)).toBe(true)
  })
})

describe('endings', () => {
  test('a reset comes with its code; ours reaches the runtime with its code', async () => {
    const codes: number[] = []
    let taken = 0
    await bed.serve((stream, headers) => {
      if (headers[':path'] === '/reset') return stream.close(11)
      stream.respond({ ':status': 200 })
      taken += 1
      stream.once('close', () => codes.push(stream.rstCode))
    })
    const connection = await bed.dial()
    expect((await ask(connection, '/reset')).ending).toBe(11)
    const resets: boolean[] = []
    const stream = connection.request(fields('/x'), undefined, true, (wasReset) => resets.push(wasReset))
    await expect.poll(() => taken).toBe(1)
    stream.cancel(8)
    await expect.poll(() => codes).toEqual([8])
    expect([resets, stream.isOver]).toEqual([[true], true])
  })

  test('a whole answer ends a request that is still being sent, and its writer waits no longer', async () => {
    await bed.serve((stream) => stream.respond({ ':status': 200, 'grpc-status': '8' }, { endStream: true }))
    const connection = await bed.dial()
    const ends: boolean[] = []
    const stream = connection.request(fields('/x'), undefined, false, (wasReset) => ends.push(wasReset))
    const seen = see(stream)
    while (stream.write(Buffer.alloc(16_384)));
    const drained = new Promise<void>((resolve) => {
      stream.onDrain = resolve
    })
    expect((await seen).ending).toBe('whole')
    await drained
    expect([stream.isOver, ends]).toEqual([true, [true]])
  })

  test('after a goodbye those under way are answered, and no new one begins', async () => {
    await bed.serve((stream) => {
      stream.session?.goaway()
      setTimeout(() => stream.respond({ ':status': 200 }, { endStream: true }), 30)
    })
    const connection = await bed.dial()
    const seen = await ask(connection, '/x')
    expect([seen.ending, connection.isOpen]).toEqual(['whole', false])
  })

  test('a lost connection ends every call, waiting ones too, and each later one at once', async () => {
    let taken = 0
    const play: Play = (stream, headers) => {
      if (headers[':path'] === '/first') return stream.respond({ ':status': 200 }, { endStream: true })
      taken += 1
    }
    await bed.serve(play, { settings: { maxConcurrentStreams: 2 } })
    const connection = await bed.dial()
    // After an answer its settings are known.
    await ask(connection, '/first')
    const all = Array.from({ length: 5 }, () => ask(connection, '/x'))
    await expect.poll(() => taken).toBe(2)
    for (const session of bed.sessions) session.destroy()
    // Node says its last word to some: a reset without a reason.
    expect((await Promise.all(all)).every((s) => s.ending === 'lost' || s.ending === 0)).toBe(true)
    expect((await ask(connection, '/x')).ending).toBe('lost')
  })
})
