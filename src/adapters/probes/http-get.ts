// One GET of a probe or a hook on a connection of its own. The certificate of the container is not verified, as everywhere
// in Kubernetes: the answer says that the container is alive, and nothing is sent that is worth protecting.
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as TlsAgent } from 'node:https'
import type { GetAnswer, GetRequest } from '../../ports/network/probe-calls.js'
import { dialFault, joinHostPort, lookup } from './dial.js'

const maxBody = 10 * 1024
const plainAgent = new Agent({ keepAlive: false })
const tlsAgent = new TlsAgent({ keepAlive: false, rejectUnauthorized: false, maxCachedSessions: 0 })

/** What OpenSSL says of an answer that is no TLS. */
const notTls = /wrong version number|packet length too long|http request/i

export function httpGet(r: GetRequest, timeoutMs: number, signal: AbortSignal): Promise<GetAnswer> {
  return new Promise((resolve) => {
    const { host, port, path, tls } = r
    const url = `${tls ? 'https' : 'http'}://${joinHostPort(host, port)}${path}`
    const request = (tls ? requestHttps : requestHttp)({
      host,
      port,
      path,
      headers: hasHost(r.headers) ? r.headers : [...r.headers, 'Host', joinHostPort(host, port)],
      agent: tls ? tlsAgent : plainAgent,
      lookup,
    })
    let began = false
    const end = (answer: GetAnswer): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      request.destroy()
      resolve(answer)
    }
    const late = (): void => {
      const doing = began ? 'while reading body' : 'while awaiting headers'
      const message = `Get "${url}": context deadline exceeded (Client.Timeout exceeded ${doing})`
      end(began ? { kind: 'cut-off', message } : { kind: 'failed', why: 'timeout', message })
    }
    const stop = (): void => end({ kind: 'failed', why: 'other', message: `Get "${url}": context canceled` })
    const timer = setTimeout(late, timeoutMs)
    signal.addEventListener('abort', stop, { once: true })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isPlain = tls && notTls.test(error.message)
      const message = isPlain
        ? `Get "${url}": http: server gave HTTP response to HTTPS client`
        : `Get "${url}": ${dialFault(error, host, port)}`
      end(
        began ? { kind: 'cut-off', message } : { kind: 'failed', why: isPlain ? 'plain' : 'other', message },
      )
    })
    request.on('response', (response) => {
      began = true
      readBody(response, (body) =>
        end({ kind: 'answer', status: response.statusCode ?? 0, location: response.headers.location, body }),
      )
    })
    request.end()
  })
}

const hasHost = (headers: readonly string[]): boolean =>
  headers.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'host')

/** Not beyond what is kept: an endless body is as good as a long one. */
function readBody(response: IncomingMessage, done: (body: string) => void): void {
  const parts: Buffer[] = []
  let size = 0
  const finish = (): void => done(Buffer.concat(parts).subarray(0, maxBody).toString())
  response.on('data', (part: Buffer) => {
    parts.push(part)
    size += part.length
    if (size >= maxBody) finish()
  })
  response.on('end', finish)
  // Ends before its Content-Length: the request's own error says so.
  response.on('error', () => undefined)
}
