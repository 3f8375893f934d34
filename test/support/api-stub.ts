// An HTTP server that answers as a test says, over each protocol that the client of the API server speaks.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createSelfSigned } from '../../src/adapters/tls/self-signed.js'

/** Plain HTTP/1.1; TLS without HTTP/2, as an old balancer; HTTP/2, as API servers. */
export const stubProtocols = ['HTTP/1.1', 'HTTP/1.1 over TLS', 'HTTP/2'] as const
type StubProtocol = (typeof stubProtocols)[number]

export type StubAnswer = (request: IncomingMessage & { body: string }, response: ServerResponse) => void

export interface ApiStub {
  readonly url: string
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
  /** Every connection that was ever opened. */
  readonly sockets: ReadonlySet<Socket>
  close(): void
}

let pair: ReturnType<typeof createSelfSigned> | undefined

export async function startApiStub(protocol: StubProtocol, answer: StubAnswer): Promise<ApiStub> {
  const requests: ApiStub['requests'] = []
  const sockets = new Set<Socket>()
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      answer(Object.assign(request, { body }), response)
    })
  }
  pair ??= createSelfSigned('stub', ['127.0.0.1'])
  const { certificate: cert, key } = await pair
  const server =
    protocol === 'HTTP/1.1'
      ? createServer(take)
      : protocol === 'HTTP/2'
        ? // Node's compatibility layer has what this file uses.
          createSecureServer({ cert, key }, take as never)
        : createHttpsServer({ cert, key }, take)
  server.on(protocol === 'HTTP/1.1' ? 'connection' : 'secureConnection', (socket: Socket) =>
    sockets.add(socket),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const scheme = protocol === 'HTTP/1.1' ? 'http' : 'https'
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sockets,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
