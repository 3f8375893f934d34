// Passes an upgrade on to the runtime's streaming server and joins the two connections: bytes, back-pressure and ends are
// carried over, and nothing is interpreted. Only a 101 joins them: after any other answer the client's connection ends, so that it
// cannot send a second request past our own checks.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { keelsonError, messageOf } from '../../core/errors.js'
import type { HttpAnswer, HttpRequest, RelayUpgrade, StreamTarget } from '../../ports/http.js'

/** The runtime has its own token in the path; what opens the kubelet is not for it. */
const notPassedOn = new Set(['host', 'authorization', 'cookie', 'content-length', 'transfer-encoding'])
const maxAnswerBytes = 1024 * 1024

type Answered =
  | { readonly kind: 'answer'; readonly response: IncomingMessage }
  | {
      readonly kind: 'upgraded'
      readonly response: IncomingMessage
      readonly socket: Duplex
      readonly head: Uint8Array
    }

export const relayUpgrade: RelayUpgrade = async (request, target, { timeoutMs, idleMs }) => {
  const answered = await ask(request, target, timeoutMs)
  if (answered.kind === 'answer') return passOn(answered.response)
  const { response, socket, head } = answered
  return {
    takeOver: async (client) => {
      client.socket.write(responseHead(response))
      if (head.length > 0) client.socket.write(head)
      if (client.head.length > 0) socket.write(client.head)
      await join(client.socket, socket, idleMs)
    },
  }
}

function ask(request: HttpRequest, { host, port, path }: StreamTarget, timeoutMs: number): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const late = AbortSignal.timeout(timeoutMs)
    const req = httpRequest({
      agent: false,
      host,
      port,
      path,
      method: request.method,
      headers: ['host', `${host}:${port}`, 'content-length', '0', ...headersOf(request)],
      signal: AbortSignal.any([late, request.signal]),
    })
    req.once('response', (response) => resolve({ kind: 'answer', response }))
    req.once('upgrade', (response, socket, head) => {
      socket.on('error', () => socket.destroy())
      resolve({ kind: 'upgraded', response, socket, head })
    })
    req.once('error', (cause) => {
      const [code, why] = late.aborted
        ? (['request.timeout', `no response within ${timeoutMs} ms`] as const)
        : (['runtime.failed', messageOf(cause)] as const)
      reject(keelsonError(code, `connect to the runtime's streaming server: ${why}`, { port }, cause))
    })
    req.end()
  })
}

const headersOf = ({ headers }: HttpRequest): readonly string[] =>
  [...headers]
    .filter(([name]) => !notPassedOn.has(name))
    .flatMap(([name, values]) => values.flatMap((value) => [name, value]))

const responseHead = ({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string => {
  const lines = [`HTTP/1.1 ${statusCode ?? 101} ${statusMessage ?? ''}`]
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

async function passOn(response: IncomingMessage): Promise<HttpAnswer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length > maxAnswerBytes) break
  }
  response.destroy()
  return {
    status: response.statusCode ?? 502,
    headers: { 'content-type': response.headers['content-type'] ?? 'text/plain; charset=utf-8' },
    body: Buffer.concat(parts).subarray(0, maxAnswerBytes),
    close: true,
  }
}

/** Resolves when the client's connection is over. What the runtime sent last still reaches the client. */
function join(client: Duplex, runtime: Duplex, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = (): void => {
      client.destroy()
      runtime.destroy()
    }
    const idle = idleMs > 0 ? setTimeout(cut, Math.min(idleMs, 2 ** 31 - 1)) : undefined
    const touch = (): void => void idle?.refresh()
    client.on('data', touch)
    runtime.on('data', touch)
    client.pipe(runtime, { end: false })
    runtime.pipe(client)
    client.once('finish', () => client.destroy())
    // Half a connection is of no use to SPDY and WebSocket: a client that ends its side has gone.
    client.once('end', () => runtime.end(cut))
    client.once('close', () => {
      clearTimeout(idle)
      runtime.destroy()
      resolve()
    })
    runtime.once('close', () => client.end())
    client.on('error', cut)
    runtime.on('error', cut)
    if (client.destroyed) {
      clearTimeout(idle)
      runtime.destroy()
      resolve()
    }
  })
}
