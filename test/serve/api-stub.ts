// An API server as far as a node asks it who somebody is and what they may do: TokenReview and SubjectAccessReview
// over TLS, with tokens and rights that a test changes while it runs, and the ways in which one can fail. Takes events.
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { type Authority, createLeaf } from './pki.js'

/** `flaky` fails for its first 400 ms. */
export type Mood = 'well' | 'slow' | 'failing' | 'flaky' | 'garbage'

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: {
    readonly token?: string
    readonly user?: string
    readonly groups?: readonly string[]
    readonly resourceAttributes?: {
      readonly verb: string
      readonly resource: string
      readonly subresource: string
      readonly name: string
    }
  }
}

export interface ApiStub {
  readonly port: number
  readonly kubeconfig: string
  readonly asked: Review[]
  /** Bodies of created events, with the path that they came to. */
  readonly events: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[]
  /** Serial numbers of the client certificates, one for each request. */
  readonly shown: string[]
  /** Connections that were opened so far. */
  readonly connections: () => number
  readonly mood: Mood
  setMood(mood: Mood, slowMs?: number): void
  /** token -> user */
  readonly tokens: Map<string, { username: string; groups: string[] }>
  /** user -> `verb subresource` pairs; `* *` is everything. */
  readonly rights: Map<string, ReadonlySet<string>>
  close(): Promise<void>
}

function review(stub: ApiStub, body: Review): object {
  if (body.kind === 'TokenReview') {
    const user = stub.tokens.get(body.spec.token ?? '')
    return user === undefined ? { authenticated: false } : { authenticated: true, user }
  }
  const { verb, resource, subresource, name } = body.spec.resourceAttributes ?? {}
  const rights = stub.rights.get(body.spec.user ?? '')
  const isOurNode = resource === 'nodes' && name === 'node-1'
  const allowed = isOurNode && (rights?.has('* *') === true || rights?.has(`${verb} ${subresource}`) === true)
  return { allowed, ...(allowed ? {} : { reason: 'no rule of the stub allows it' }) }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

export const formatKubeconfig = (
  port: number,
  ca: Authority,
  user: Readonly<Record<string, string>>,
): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'node' } }],
    clusters: [
      {
        name: 'here',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'certificate-authority-data': base64(ca.certificate),
        },
      },
    ],
    users: [{ name: 'node', user }],
  })

type Event = Review & { readonly metadata: { readonly namespace: string } } & Readonly<
    Record<string, unknown>
  >

const isEvent = (body: Review): body is Event => body.kind === 'Event'

const serialOf = ({ socket }: IncomingMessage): string =>
  socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.serialNumber ?? '') : ''

export async function startApiStub(directory: string, ca: Authority): Promise<ApiStub> {
  const serving = await createLeaf(ca, { user: 'kube-apiserver', usage: 'server', hosts: ['127.0.0.1'] })
  const node = await createLeaf(ca, { user: 'system:node:node-1', groups: ['system:nodes'] })
  const server = createServer({
    cert: serving.certificate,
    key: serving.key,
    ca: ca.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  })
  const now = { mood: 'well' as Mood, slowMs: 0, sinceMs: Date.now() }
  let connections = 0
  server.on('secureConnection', () => {
    connections++
  })
  server.on('request', (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      // A kubelet is a node, too: its heartbeats are none of the reviews.
      if (req.method !== 'POST' || req.url === '/api/v1/nodes') return void res.writeHead(404).end('{}')
      stub.shown.push(serialOf(req))
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{"kind":""}') as Review
      const path = isEvent(body)
        ? `/api/v1/namespaces/${body.metadata.namespace}/events`
        : `/apis/${body.apiVersion}/${body.kind.toLowerCase()}s`
      const send = (status: number, value: unknown) => {
        res.writeHead(status, { 'content-type': 'application/json' })
        res.end(typeof value === 'string' ? value : JSON.stringify(value))
      }
      if (req.method !== 'POST' || req.url !== path) return send(404, { kind: 'Status', code: 404 })
      if (!isEvent(body)) stub.asked.push(body)
      const failure = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: 500,
        reason: 'InternalError',
      }
      if (stub.mood === 'failing') return send(500, failure)
      if (stub.mood === 'flaky' && Date.now() - now.sinceMs < 400) return send(500, failure)
      if (stub.mood === 'garbage') return send(200, '{"kind":"Table"')
      if (isEvent(body)) {
        stub.events.push({ path, body })
        return send(201, body)
      }
      const answer = { ...body, status: review(stub, body) }
      if (stub.mood === 'slow') setTimeout(() => send(201, answer), now.slowMs).unref()
      else send(201, answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const kubeconfig = join(directory, 'kubeconfig')
  writeFileSync(
    kubeconfig,
    formatKubeconfig(port, ca, {
      'client-certificate-data': base64(node.certificate),
      'client-key-data': base64(node.key),
    }),
  )
  const stub: ApiStub = {
    port,
    kubeconfig,
    asked: [],
    events: [],
    shown: [],
    connections: () => connections,
    get mood() {
      return now.mood
    },
    setMood: (mood, slowMs = 0) => Object.assign(now, { mood, slowMs, sinceMs: Date.now() }),
    tokens: new Map(),
    rights: new Map(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return stub
}
