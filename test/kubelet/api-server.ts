// An API server as far as these tests need one: reviews that always say yes to one token, Events that are kept, and a Node
// that can be created and nothing more.
// It can be down at first: its address is known before it listens.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { createAuthority, createLeaf } from '../serve/pki.js'
import { freePorts } from '../support/command.js'

/** Of every Node that is registered here. */
export const nodeUid = 'a2b0c7e4-node'

export const reviewedToken = 'a-token-that-the-api-server-knows'

export interface KeptEvent {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string }
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly source: { readonly component: string; readonly host: string }
}

export interface TestApiServer {
  readonly kubeconfig: string
  readonly events: KeptEvent[]
  listen(): Promise<void>
  close(): Promise<void>
}

export async function createTestApiServer(directory: string): Promise<TestApiServer> {
  const ca = await createAuthority('test')
  const serving = await createLeaf(ca, { user: 'kube-apiserver', usage: 'server', hosts: ['127.0.0.1'] })
  const node = await createLeaf(ca, { user: 'system:node:node-1', groups: ['system:nodes'] })
  const [port = 0] = await freePorts(1)
  const events: KeptEvent[] = []
  const server = createServer({
    cert: serving.certificate,
    key: serving.key,
    ca: ca.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  })
  server.on('request', (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
      const send = (status: number, value: unknown): void => {
        res.writeHead(status, { 'content-type': 'application/json' })
        res.end(JSON.stringify(value))
      }
      if (req.url === '/api/v1/namespaces/default/events') {
        events.push(body)
        return send(201, body)
      }
      if (req.url === '/apis/authentication.k8s.io/v1/tokenreviews') {
        const known = body.spec.token === reviewedToken
        const user = { username: 'tester', groups: ['testers'] }
        return send(201, {
          ...body,
          status: known ? { authenticated: true, user } : { authenticated: false },
        })
      }
      if (req.url === '/apis/authorization.k8s.io/v1/subjectaccessreviews')
        return send(201, { ...body, status: { allowed: body.spec.user === 'tester' } })
      if (req.method === 'POST' && req.url === '/api/v1/nodes')
        return send(201, { ...body, metadata: { ...body.metadata, uid: nodeUid } })
      return send(404, { kind: 'Status', code: 404 })
    })
  })
  const kubeconfig = join(directory, 'kubelet.conf')
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': base64(ca.certificate),
  }
  const user = { 'client-certificate-data': base64(node.certificate), 'client-key-data': base64(node.key) }
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'here', user: 'node' } }],
      clusters: [{ name: 'here', cluster }],
      users: [{ name: 'node', user }],
    }),
  )
  return {
    kubeconfig,
    events,
    async listen() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
