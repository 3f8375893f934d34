// HTTP/1.1: a connection for each call under way, kept for a while after it. For plain HTTP and for servers without HTTP/2.
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Channel, Endpoint } from './channel.js'

/** Below the time after which API servers and balancers close idle connections. */
const idleMs = 20_000
const maxFreeSockets = 8
const keepAlive = { keepAlive: true, maxFreeSockets, keepAliveMsecs: 15_000, timeout: idleMs }

export function createHttp1({ host, port, tls }: Endpoint): Channel {
  const agent = tls === undefined ? new HttpAgent(keepAlive) : new HttpsAgent({ ...keepAlive, ...tls })
  const request = tls === undefined ? requestHttp : requestHttps
  return {
    send: ({ method, path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const outgoing = request({ host, port, agent, method, path, headers })
        signal.addEventListener('abort', () => outgoing.destroy(signal.reason as Error), { once: true })
        outgoing
          .once('response', (answer) =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
          )
          .once('error', reject)
          .end(body)
      }),
    retire() {
      agent.maxFreeSockets = 0
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy()
    },
    destroy: () => agent.destroy(),
  }
}
