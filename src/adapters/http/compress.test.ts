// Compressed answers over a real connection: who gets them, that they are the same bytes, and that they are made once.
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { HttpResponse } from '../../ports/http.js'
import { compressed } from './compress.js'
import { send } from './exchange.js'

let server: Server | undefined
afterEach(() => {
  server?.close()
  server = undefined
})

async function ask(response: HttpResponse, encoding?: string, method = 'GET') {
  server = createServer((req, res) => void send(response, req, res))
  const listening = server
  await new Promise<void>((resolve) => {
    listening.listen(0, '127.0.0.1', resolve)
  })
  const { port } = listening.address() as AddressInfo
  const headers = encoding === undefined ? {} : { 'accept-encoding': encoding }
  return new Promise<{ headers: Readonly<Record<string, unknown>>; body: Buffer }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, headers, agent: false }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.once('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }))
    })
      .once('error', reject)
      .end()
  })
}

const large = new TextEncoder().encode('container_memory_rss{pod="a"} 1\n'.repeat(2_000))
const answer = (body: HttpResponse['body'], headers = {}): HttpResponse => ({ status: 200, headers, body })

test('a scraper gets the same text, much smaller', async () => {
  const { headers, body } = await ask(answer(large), 'gzip')
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
  expect(headers['content-length']).toBe(String(body.length))
  expect(body.length).toBeLessThan(large.length / 10)
  expect(new Uint8Array(gunzipSync(body))).toEqual(large)
})

test('a text in pieces is sent as one, packed or as it is; to a HEAD, its length', async () => {
  const pieces = Array.from({ length: 9 }, (_, i) => large.subarray(i * 10_000, (i + 1) * 10_000))
  const whole = Buffer.concat(pieces)
  const plain = await ask(answer(pieces))
  expect([plain.headers['content-length'], plain.headers['transfer-encoding']]).toEqual([
    String(whole.length),
    undefined,
  ])
  expect(plain.body).toEqual(whole)
  expect(gunzipSync((await ask(answer(pieces), 'gzip')).body)).toEqual(whole)
  const head = await ask(answer(pieces), undefined, 'HEAD')
  expect([head.headers['content-length'], head.body.length]).toEqual([String(whole.length), 0])
})

for (const { name, body, encoding, headers } of [
  { name: 'nobody asked for it', body: large },
  { name: 'it was refused', body: large, encoding: 'gzip;q=0, identity' },
  { name: 'only others were asked for', body: large, encoding: 'br, zstd' },
  { name: 'it is small', body: large.slice(0, 1_000), encoding: 'gzip' },
  { name: 'it is a text of the moment', body: 'x'.repeat(100_000), encoding: 'gzip' },
  { name: 'it is encoded already', body: large, encoding: 'gzip', headers: { 'content-encoding': 'x' } },
])
  test(`sent as it is: ${name}`, async () => {
    const got = await ask(answer(body, headers), encoding)
    expect(got.headers['content-encoding']).toBe(headers?.['content-encoding'])
    expect(got.body.length).toBe(body.length)
  })

test('with a weight, among others, in capitals', async () => {
  for (const encoding of ['deflate, GZIP', 'br;q=1.0, gzip;q=0.8', 'gzip; q=1'])
    expect((await ask(answer(large), encoding)).headers['content-encoding'], encoding).toBe('gzip')
})

test('an answer that is shared is packed once', () => {
  const req = { headers: { 'accept-encoding': 'gzip' } } as never
  expect(compressed(large, req)).toBe(compressed(large, req))
  expect(compressed(large.slice(), req)).not.toBe(compressed(large, req))
})
