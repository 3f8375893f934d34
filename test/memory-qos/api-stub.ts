// A small real HTTP server that speaks what a companion listens to: list in pages and watch with bookmarks, expiry and
// disconnects as an API server, or /pods and /configz as a kubelet.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ApiStub {
  readonly url: string
  readonly requests: string[]
  pods: Map<string, object>
  configz: object
  /** Watches under way. */
  readonly watching: number
  put(uid: string, pod: object): void
  remove(uid: string): void
  bookmark(): void
  /** Ends the streams: cleanly, in the middle of a line, or with 410 as an event. */
  endWatches(how: 'clean' | 'torn' | 'expired'): void
  /** Answers of the next requests, in order: a status instead of the content. */
  readonly refusals: number[]
  close(): Promise<void>
}

interface Watch {
  readonly response: ServerResponse
}

export async function startApiStub(): Promise<ApiStub> {
  let version = 100
  let oldest = 0
  const watches = new Set<Watch>()
  const changes: { readonly version: number; readonly line: string }[] = []
  const withVersion = (pod: object, v: number): object => {
    const { metadata = {} } = pod as { metadata?: object }
    return { ...pod, metadata: { ...metadata, resourceVersion: String(v) } }
  }
  const tell = (type: string, object: object): void => {
    const line = `${JSON.stringify({ type, object })}\n`
    changes.push({ version, line })
    for (const { response } of watches) response.write(line)
  }
  const send = (response: ServerResponse, body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  function list(url: URL, response: ServerResponse): void {
    const all = [...stub.pods.values()]
    const from = Number(url.searchParams.get('continue') ?? 0)
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 2), 2)
    const items = all.slice(from, from + limit)
    const next = from + limit < all.length ? { continue: String(from + limit) } : {}
    send(response, { kind: 'PodList', metadata: { resourceVersion: String(version), ...next }, items })
  }
  function watch(url: URL, response: ServerResponse): void {
    const since = Number(url.searchParams.get('resourceVersion'))
    if (since < oldest) {
      const status = { kind: 'Status', code: 410, message: 'too old resource version' }
      response.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    for (const change of changes) if (change.version > since) response.write(change.line)
    const entry = { response }
    watches.add(entry)
    response.on('close', () => watches.delete(entry))
  }
  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://stub')
    stub.requests.push(`${url.pathname}${url.search}`)
    const refusal = stub.refusals.shift()
    if (refusal !== undefined) {
      response.writeHead(refusal).end('{}')
      return
    }
    if (url.pathname === '/configz') send(response, { kubeletconfig: stub.configz })
    else if (url.pathname === '/pods') send(response, { kind: 'PodList', items: [...stub.pods.values()] })
    else if (url.searchParams.get('watch') === 'true') watch(url, response)
    else list(url, response)
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stub: ApiStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    pods: new Map(),
    configz: {},
    refusals: [],
    get watching() {
      return watches.size
    },
    put(uid, pod) {
      version++
      const type = stub.pods.has(uid) ? 'MODIFIED' : 'ADDED'
      const object = withVersion(pod, version)
      stub.pods.set(uid, object)
      tell(type, object)
    },
    remove(uid) {
      version++
      const object = withVersion(stub.pods.get(uid) ?? {}, version)
      stub.pods.delete(uid)
      tell('DELETED', object)
    },
    bookmark() {
      version++
      const object = { kind: 'Pod', metadata: { resourceVersion: String(version) } }
      for (const { response } of watches) response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
    },
    endWatches(how) {
      if (how === 'expired') {
        oldest = version + 1
        version += 2
      }
      for (const { response } of [...watches]) {
        if (how === 'torn') {
          response.write('{"type":"MODI')
          setTimeout(() => response.destroy(), 10)
        } else if (how === 'expired')
          response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'expired' } })}\n`)
        else response.end()
      }
    },
    async close() {
      for (const { response } of watches) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}
