// A client that sends exactly what it is told, each request on a connection of its own unless an agent is given.
import { type Agent, type RequestOptions, request } from 'node:https'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { Pair } from './pki.js'

export interface Ask {
  readonly port: number
  /** Another source address than the usual one. */
  readonly from?: string
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly token?: string
  readonly certificate?: Pair
  readonly agent?: Agent
  readonly body?: string
  readonly timeoutMs?: number
}

const contexts = new Map<string, SecureContext>()

/** Reading a key for each of thousands of connections would be most of their cost. */
function contextOf(pair: Pair | undefined): SecureContext {
  const name = pair?.certificate ?? ''
  const kept =
    contexts.get(name) ??
    createSecureContext(pair === undefined ? { ca: [] } : { ca: [], cert: pair.certificate, key: pair.key })
  contexts.set(name, kept)
  return kept
}

export interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export function ask(o: Ask): Promise<Told> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions & { readonly secureContext: SecureContext } = {
      host: '127.0.0.1',
      port: o.port,
      ...(o.from === undefined ? {} : { localAddress: o.from }),
      method: o.method ?? 'GET',
      path: o.path,
      headers: {
        ...(o.token === undefined ? {} : { authorization: `Bearer ${o.token}` }),
        ...(o.headers as Record<string, string | string[]>),
      },
      rejectUnauthorized: false,
      secureContext: contextOf(o.certificate),
      agent: o.agent ?? false,
      timeout: o.timeoutMs ?? 20_000,
    }
    const req = request(options)
    req.on('timeout', () => req.destroy(new Error('no answer in time')))
    req.on('error', reject)
    req.on('upgrade', (res, socket) => {
      socket.destroy()
      resolve({ status: res.statusCode ?? 0, headers: res.headers, body: '' })
    })
    req.on('response', (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () =>
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    req.end(o.body)
  })
}

export const openTls = (port: number, certificate?: Pair): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      secureContext: contextOf(certificate),
    })
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', reject)
  })

/** Sends raw bytes and collects what comes back until the server is silent or ends. */
export async function raw(port: number, bytes: string, quietMs = 150): Promise<string> {
  const socket = await openTls(port)
  return new Promise((resolve) => {
    let text = ''
    let timer = setTimeout(() => socket.destroy(), 2000)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), quietMs)
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
    socket.write(Buffer.from(bytes, 'latin1'))
  })
}

export const forEachLimited = async <T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
) => {
  const queue = [...items]
  await Promise.all(
    Array.from({ length: limit }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
    }),
  )
}
