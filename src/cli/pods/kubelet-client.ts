// Talks to the kubelet of this machine over its HTTPS endpoints, with the local token and the certificate that it made
// for itself.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { readLocalToken } from '../../adapters/secrets/local-token.js'
import { isKeelsonError, keelsonError, messageOf } from '../../core/errors.js'
import type { PodJson } from '../../core/pod/document.js'
import { defaultRootDir } from '../../kubelet/serve-settings.js'
import { defaultSettings } from '../../serve/settings.js'
import { findKubelet, type ReachOptions, rootsNodeHint } from './find-kubelet.js'

const defaultTimeoutMs = 30_000
const maxAnswer = 64 * 1024 * 1024

export interface KubeletClient {
  get(path: string, timeoutMs?: number): Promise<string>
  post(path: string, accept: string, timeoutMs?: number): Promise<string>
  /** Pieces of the response as they arrive. */
  stream(path: string, onText: (text: string) => void, signal: AbortSignal): Promise<void>
  /** A WebSocket that speaks this protocol, as its raw connection. */
  webSocket(path: string, protocol: string): Promise<Duplex>
  pods(): Promise<readonly PodJson[]>
}

export function createKubeletClient(o: ReachOptions): KubeletClient {
  const place = findKubelet(o)
  const server = parseServer(place.server)
  const token = readToken(place.rootDir, o.tokenFile)
  const ca = readCertificate(o.certificate ?? `${place.rootDir}/pki/kubelet.crt`)

  const open = (
    method: string,
    path: string,
    accept: string,
    { timeoutMs = defaultTimeoutMs, signal }: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      let connected = false
      const req = request(new URL(path, server), {
        method,
        ca,
        headers: { authorization: `Bearer ${token}`, accept },
        timeout: timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      })
      // A kubelet that accepts the connection is running, however slow its response.
      req.on('socket', (socket) => {
        connected = !socket.connecting
        if (!connected)
          socket.once('connect', () => {
            connected = true
          })
      })
      req.on('timeout', () =>
        req.destroy(connected ? noAnswer(server, timeoutMs) : new Error('connection timed out')),
      )
      req.on('error', (e) => reject(isKeelsonError(e) ? e : unreachable(server, e)))
      req.on('response', resolve)
      req.end()
    })

  const read = async (method: string, path: string, accept: string, timeoutMs?: number): Promise<string> => {
    const response = await open(method, path, accept, timeoutMs === undefined ? {} : { timeoutMs })
    const body = await readAll(response)
    return checked(response, body, path)
  }

  return {
    get: (path, timeoutMs) => read('GET', path, 'application/json', timeoutMs),
    post: (path, accept, timeoutMs) => read('POST', path, accept, timeoutMs),
    async stream(path, onText, signal) {
      const response = await open('GET', path, 'text/plain', { signal })
      if (response.statusCode !== 200) checked(response, await readAll(response), path)
      response.setTimeout(0)
      response.setEncoding('utf8')
      try {
        for await (const text of response) onText(String(text))
      } catch (e) {
        if (!signal.aborted) throw unreachable(server, e)
      }
    },
    webSocket: (path, protocol) =>
      new Promise((resolve, reject) => {
        const req = request(new URL(path, server), {
          ca,
          agent: false,
          timeout: defaultTimeoutMs,
          headers: {
            authorization: `Bearer ${token}`,
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': randomBytes(16).toString('base64'),
            'sec-websocket-protocol': protocol,
          },
        })
        req.on('timeout', () => req.destroy(noAnswer(server, defaultTimeoutMs)))
        req.on('error', (e) => reject(isKeelsonError(e) ? e : unreachable(server, e)))
        req.on('response', (response) => {
          readAll(response)
            .then((body) => checked(response, body, path))
            .then(() => reject(keelsonError('kubelet.refused', 'the kubelet opened no stream', { path })))
            .catch(reject)
        })
        req.on('upgrade', (_, socket, head) => {
          socket.setTimeout(0)
          if (head.length > 0) socket.unshift(head)
          resolve(socket)
        })
        req.end()
      }),
    async pods() {
      const { items } = JSON.parse(await read('GET', '/pods', 'application/json')) as {
        items?: readonly PodJson[]
      }
      return items ?? []
    },
  }
}

const unreachable = (server: URL, cause: unknown) =>
  keelsonError(
    'kubelet.unreachable',
    `connect to the kubelet at ${server.origin}: ${messageOf(cause)}; is it running, with this --root-dir?`,
    { server: server.origin },
    cause,
  )

const noAnswer = (server: URL, timeoutMs: number) =>
  keelsonError(
    'kubelet.no-answer',
    `request to the kubelet at ${server.origin}: connected, but no response within ${timeoutMs / 1000} s; check its log and the load of the machine`,
    { server: server.origin, timeoutMs },
  )

async function readAll(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length > maxAnswer)
      throw keelsonError('input.too-large', `the response of the kubelet is larger than ${maxAnswer} bytes`)
  }
  return Buffer.concat(parts).toString()
}

function checked(response: IncomingMessage, body: string, path: string): string {
  if (response.statusCode === 200 || response.statusCode === 201) return body
  const text = statusMessage(body)
  if (response.statusCode === 404) throw keelsonError('pod.not-found', text, { path })
  if (response.statusCode === 504)
    throw keelsonError('kubelet.no-answer', `the kubelet responded: ${text}`, { path })
  throw keelsonError(
    'kubelet.refused',
    `the kubelet responded with ${response.statusCode ?? 'no status'}: ${text}`,
    {
      path,
    },
  )
}

/** A Status object where the kubelet speaks JSON, plain text where not. */
function statusMessage(body: string): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown }
    return typeof message === 'string' ? message : body.trim()
  } catch {
    return body.trim()
  }
}

function parseServer(text: string): URL {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
    throw keelsonError('usage.invalid', `--server ${text}: give a URL such as https://127.0.0.1:10250`)
  return new URL(text)
}

function readToken(rootDir: string, tokenFile: string | undefined): string {
  const standard =
    rootDir === defaultRootDir ? defaultSettings('kubelet', '').localTokenFile : `${rootDir}/keelson-token`
  const file = tokenFile ?? standard
  const token = readLocalToken(file)
  if (token !== undefined) return token
  throw keelsonError(
    'input.unreadable',
    `read token file ${file}: no such file; is a Keelson kubelet running here? If it uses another --root-dir, pass it${rootsNodeHint()}`,
    {
      path: file,
    },
  )
}

function readCertificate(path: string): string {
  if (!existsSync(path))
    throw keelsonError(
      'input.unreadable',
      `read certificate ${path}: no such file; name the certificate of the server with --certificate`,
      { path },
    )
  return readFileSync(path, 'utf8')
}
