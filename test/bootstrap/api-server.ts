// A few paths of a Kubernetes API server over plain HTTP on loopback, and the kubeconfig that leads to it. The
// official client takes plain HTTP only when told not to verify; there is no certificate here to verify.
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

interface StoredObject {
  metadata: { name: string; annotations?: Record<string, string | null> }
  data?: Record<string, string>
}

export interface ApiServer {
  readonly kubeconfig: string
  readonly objects: Map<string, StoredObject>
  /** `PATCH /api/v1/nodes/x`, in order. */
  readonly changes: string[]
  /** Answer every change with this status instead. */
  refuse: number | undefined
  close(): Promise<void>
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text === '' ? {} : JSON.parse(text)
}

/** RFC 7386, as the real one does it. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {}
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key]
    else result[key] = merge(result[key], value)
  return result
}

export async function startApiServer(directory: string): Promise<ApiServer> {
  const objects = new Map<string, StoredObject>()
  const changes: string[] = []
  const api: ApiServer = {
    kubeconfig: join(directory, 'kubeconfig'),
    objects,
    changes,
    refuse: undefined,
    close: () => new Promise((done) => server.close(() => done())),
  }
  const server = createServer((request, response) => {
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      response.end(JSON.stringify(body))
    }
    const failure = (code: number, message: string) => answer(code, { kind: 'Status', code, message })
    const handle = async () => {
      const path = new URL(request.url ?? '/', 'http://x').pathname
      const body = await bodyOf(request)
      if (request.method !== 'GET') {
        changes.push(`${request.method} ${path}`)
        if (api.refuse !== undefined) return failure(api.refuse, 'not today')
      }
      const found = objects.get(path)
      if (request.method === 'POST') {
        const created = body as unknown as StoredObject
        objects.set(`${path}/${created.metadata.name}`, created)
        return answer(201, created)
      }
      if (found === undefined) return failure(404, `${path} not found`)
      if (request.method === 'PATCH') {
        if (request.headers['content-type'] !== 'application/merge-patch+json')
          return failure(415, 'wrong patch type')
        objects.set(path, merge(found, body) as StoredObject)
      }
      if (request.method === 'DELETE') objects.delete(path)
      return answer(200, objects.get(path) ?? {})
    }
    handle().catch((e: unknown) => failure(500, String(e)))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await writeFile(
    api.kubeconfig,
    `apiVersion: v1
kind: Config
current-context: t
contexts: [{name: t, context: {cluster: t, user: t}}]
clusters: [{name: t, cluster: {server: 'http://127.0.0.1:${port}', insecure-skip-tls-verify: true}}]
users: [{name: t, user: {token: x}}]
`,
  )
  return api
}
