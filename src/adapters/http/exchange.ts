// Turns one exchange of node:http into our request, and our answer back into bytes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { keelsonError } from '../../core/errors.js'
import type { HttpPeer, HttpRequest, HttpResponse } from '../../ports/http.js'
import { compressed } from './compress.js'
import { isPieces, lengthOf } from './pieces.js'

function headerMap(raw: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>()
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase()
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [raw[i + 1] ?? ''])
    else values.push(raw[i + 1] ?? '')
  }
  return headers
}

async function* readBody(
  req: IncomingMessage,
  maxBytes: number,
  beforeReading: () => void,
): AsyncGenerator<Uint8Array> {
  const tooLarge = () => keelsonError('request.too-large', `the body is larger than ${maxBytes} bytes`)
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  beforeReading()
  let received = 0
  for await (const chunk of req as AsyncIterable<Uint8Array>) {
    received += chunk.length
    if (received > maxBytes) throw tooLarge()
    yield chunk
  }
}

interface ExchangeOptions {
  readonly peer: HttpPeer
  readonly upgrade: boolean
  readonly signal: AbortSignal
  readonly finished: Promise<void>
  readonly admit: (timeoutMs: number) => void
  /** Sends `100 Continue` to a client that waits for it. */
  readonly beforeReading: () => void
}

export const toRequest = (req: IncomingMessage, o: ExchangeOptions): HttpRequest => ({
  method: req.method ?? '',
  target: req.url ?? '',
  headers: headerMap(req.rawHeaders),
  peer: o.peer,
  upgrade: o.upgrade,
  signal: o.signal,
  finished: o.finished,
  admit: o.admit,
  body: (maxBytes) => readBody(req, maxBytes, o.beforeReading),
})

const isStream = (body: HttpResponse['body']): body is AsyncIterable<Uint8Array | string> =>
  typeof body !== 'string' && !(body instanceof Uint8Array) && !isPieces(body)

export async function send(response: HttpResponse, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (res.destroyed || res.writableEnded) return
  const { status, headers, body } = response
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  // The rest of an unread body must not be parsed as the next request, nor be waited for.
  if (response.close === true || !req.complete) res.setHeader('connection', 'close')
  res.statusCode = status
  if (isStream(body) && req.method === 'HEAD') {
    // It may have no end, and nothing of it is sent.
    await body[Symbol.asyncIterator]().return?.()
    return finish(res)
  }
  if (isStream(body)) {
    await pipeline(Readable.from(body), res)
    return
  }
  const small = 'content-encoding' in headers ? undefined : await compressed(body, req)
  if (res.destroyed) return
  if (small !== undefined) {
    res.setHeader('content-encoding', 'gzip')
    res.setHeader('vary', 'accept-encoding')
  }
  const bytes = small ?? body
  if (status !== 204 && status !== 304) res.setHeader('content-length', lengthOf(bytes))
  if (!isPieces(bytes)) return finish(res, bytes)
  // Sent as one buffer, TLS would hold two more copies of it until the last byte has gone.
  if (req.method === 'HEAD') return finish(res)
  await pipeline(Readable.from(bytes), res)
}

/** To a HEAD, Node sends the headers alone. */
const finish = (res: ServerResponse, body: string | Uint8Array = ''): Promise<void> =>
  new Promise((resolve) => {
    res.once('close', resolve)
    res.end(body)
  })
