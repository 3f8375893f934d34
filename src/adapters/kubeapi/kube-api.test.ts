// The client against a real HTTP server that fails on demand: busy, silent, torn, too slow, expired. Over HTTP/1.1 and HTTP/2.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { type StubAnswer, startApiStub, stubProtocols } from '../../../test/support/api-stub.js'
import { quickClock, stubClient } from '../../../test/support/kube-client.js'
import type { KubeObject } from '../../core/kube/objects.js'
import { FakeLog } from '../../fakes/log.js'
import type { ObjectStore } from '../../ports/kube-api.js'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const json = (response: ServerResponse, status: number, body: unknown, headers = {}): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))
const status = (code: number, reason: string, message: string) => ({ kind: 'Status', code, reason, message })
const { signal } = new AbortController()

/** Sleeps of 0 ms, noted. */
const notingClock = () => {
  const waits: number[] = []
  const clock = quickClock(0)
  return {
    waits,
    clock: {
      ...clock,
      sleep: (ms: number, until?: AbortSignal) => {
        waits.push(ms)
        return clock.sleep(ms, until)
      },
    },
  }
}

describe.each(stubProtocols)('calls over %s', (protocol) => {
  const serve = async (answer: StubAnswer) => {
    const stub = await startApiStub(protocol, answer)
    closing.push(stub.close)
    return stub
  }

  test('an object that is not there is undefined; other refusals have status, reason and the words of the server', async () => {
    const { url } = await serve((request, response) =>
      request.url === '/api/v1/nodes/gone'
        ? json(response, 404, status(404, 'NotFound', 'nodes "gone" not found'))
        : json(response, 403, status(403, 'Forbidden', 'nodes "n2" is forbidden')),
    )
    const api = stubClient({ url })
    expect(await api.get('/api/v1/nodes/gone', { signal })).toBeUndefined()
    expect(await api.remove('/api/v1/nodes/gone', { signal })).toBe(false)
    await expect(api.get('/api/v1/nodes/n2', { signal })).rejects.toMatchObject({
      code: 'kubeapi.failed',
      message: 'GET /api/v1/nodes/n2: the API server responded with 403: nodes "n2" is forbidden',
      details: { status: 403, reason: 'Forbidden' },
    })
  })

  test('patches have their content types, a removal its preconditions', async () => {
    const { url, requests } = await serve((_, response) => json(response, 200, {}))
    const api = stubClient({ url })
    for (const kind of ['strategic', 'merge', 'json'] as const)
      await api.patch('/api/v1/nodes/n/status', kind, { kind }, { signal })
    await api.remove('/api/v1/namespaces/a/pods/p', { signal, uid: 'u1', gracePeriodSeconds: 0 })
    expect(requests.map((r) => r.headers['content-type'])).toEqual([
      'application/strategic-merge-patch+json',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/json',
    ])
    expect(JSON.parse(requests[3]?.body ?? '')).toMatchObject({
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u1' },
    })
  })

  test('a busy server is asked again when it says: 429 with Retry-After, then 503, then an answer', async () => {
    let calls = 0
    const { url } = await serve((_, response) => {
      calls++
      if (calls === 1)
        return json(response, 429, status(429, 'TooManyRequests', 'slow down'), { 'retry-after': '7' })
      if (calls === 2) return json(response, 503, {})
      return json(response, 200, { metadata: { name: 'n' } })
    })
    const { clock, waits } = notingClock()
    const api = stubClient({ url, clock })
    expect(await api.get('/api/v1/nodes/n', { signal })).toMatchObject({ metadata: { name: 'n' } })
    expect(waits[0]).toBe(7000)
    expect(waits[1]).toBeGreaterThanOrEqual(400)
  })

  test('what is not idempotent is sent once, unless the server says that it did nothing', async () => {
    let calls = 0
    const { url } = await serve((_, response) => {
      calls++
      json(response, 503, {}, calls === 2 ? { 'retry-after': '1' } : {})
    })
    const api = stubClient({ url, clock: notingClock().clock })
    const create = () => api.create('/api/v1/nodes', { metadata: { name: 'n' } }, { signal })
    await expect(create()).rejects.toMatchObject({ details: { status: 503 } })
    expect(calls).toBe(1)
    await expect(create()).rejects.toMatchObject({ details: { status: 503 } })
    expect(calls).toBe(3)
    await expect(api.get('/x', { signal, retry: 'never' })).rejects.toThrow()
    expect(calls).toBe(4)
  })

  test('a wait that goes beyond the deadline is not begun', async () => {
    const { url, requests } = await serve((_, response) => json(response, 429, {}, { 'retry-after': '60' }))
    const api = stubClient({ url })
    await expect(api.get('/x', { signal, timeoutMs: 5_000 })).rejects.toMatchObject({
      details: { status: 429, retryAfterMs: 60_000 },
    })
    expect(requests).toHaveLength(1)
  })

  test('a server that is silent, in the head or in the body, ends with the deadline', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('{"half":')
    })
    const api = stubClient({ url })
    for (const path of ['/head', '/body'])
      await expect(api.get(path, { signal, timeoutMs: 150, retry: 'never' })).rejects.toMatchObject({
        code: 'kubeapi.failed',
        details: { passing: true },
      })
  })

  test('a caller that gives up ends the call at once, and while it waits to retry', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/busy') json(response, 429, {}, { 'retry-after': '20' })
    })
    const api = stubClient({ url, clock: quickClock(60_000) })
    for (const path of ['/silent', '/busy']) {
      const stop = new AbortController()
      const begun = Date.now()
      setTimeout(() => stop.abort(new Error('ending')), 100)
      await expect(api.get(path, { signal: stop.signal })).rejects.toThrow()
      expect(Date.now() - begun).toBeLessThan(5_000)
    }
  })

  test('a connection that the server closed while it was idle is not an error', async () => {
    const { url, sockets } = await serve((_, response) => json(response, 200, {}))
    const api = stubClient({ url })
    await api.get('/a', { signal })
    for (const socket of sockets) socket.destroy()
    await api.get('/b', { signal })
    await api.replace('/c', { metadata: { resourceVersion: '1' } }, { signal })
    expect(sockets.size).toBe(2)
  })

  test('closeConnections: calls under way fail as unreachable, the next one has a new connection', async () => {
    const { url, sockets } = await serve((request, response) => {
      if (request.url === '/now') json(response, 200, {})
    })
    const api = stubClient({ url })
    const waiting = api.get('/later', { signal, retry: 'never' }).catch((e: unknown) => e)
    await expect.poll(() => sockets.size).toBe(1)
    api.closeConnections()
    expect(await waiting).toMatchObject({ code: 'kubeapi.failed', details: { passing: true } })
    await api.get('/now', { signal })
    expect(sockets.size).toBe(2)
  })

  test('an answer that is no JSON, or a page of a balancer, is an error and not a value', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/html') response.writeHead(502).end('<html>bad gateway</html>')
      else response.writeHead(200).end('<html>')
    })
    const api = stubClient({ url })
    await expect(api.get('/x', { signal })).rejects.toThrow('is not JSON')
    await expect(api.get('/html', { signal, retry: 'never' })).rejects.toMatchObject({
      details: { status: 502 },
    })
  })
})

class NotedStore implements ObjectStore {
  readonly seen: string[] = []
  replace(objects: readonly KubeObject[]): void {
    this.seen.push(`= ${objects.map((o) => o.metadata?.name).join(' ')}`)
  }
  put({ metadata }: KubeObject): void {
    this.seen.push(`+ ${metadata?.name}`)
  }
  remove({ metadata }: KubeObject): void {
    this.seen.push(`- ${metadata?.name}`)
  }
}

describe.each(stubProtocols)('follow over %s', (protocol) => {
  const line = (type: string, name: string, resourceVersion: string): string =>
    `${JSON.stringify({ type, object: { metadata: { name, resourceVersion } } })}\n`
  const list = (version: string, ...names: string[]) => ({
    metadata: { resourceVersion: version },
    items: names.map((name) => ({ metadata: { name } })),
  })

  async function follow(answer: StubAnswer, watch: object = {}) {
    const server = await startApiStub(protocol, answer)
    closing.push(server.close)
    const log = new FakeLog()
    const store = new NotedStore()
    const stop = new AbortController()
    const api = stubClient({ url: server.url, log, watch })
    const done = api.follow('/api/v1/pods', { fieldSelector: 'spec.nodeName=n' }, store, stop.signal)
    closing.push(() => stop.abort())
    return {
      ...server,
      store,
      stop,
      done,
      log,
      watches: () => server.requests.filter((r) => r.url.includes('watch=')),
    }
  }

  test('a watch in which nothing comes is given up, and the next one goes on from the last bookmark', async () => {
    let watches = 0
    const {
      store,
      watches: asked,
      log,
    } = await follow(
      (request, response) => {
        if (!request.url?.includes('watch=')) return json(response, 200, list('5', 'a'))
        response.writeHead(200)
        if (++watches === 1) response.write(line('BOOKMARK', '', '9'))
        else response.write(line('ADDED', 'b', '12'))
      },
      { idleMs: 200 },
    )
    await expect.poll(() => store.seen).toEqual(['= a', '+ b'])
    expect(asked()[0]?.url).toContain('resourceVersion=5')
    expect(asked()[1]?.url).toContain('resourceVersion=9')
    expect(log.messages('warn')).toContain('a watch failed; retrying')
  })

  test('410 as a status and as an event: a new list', async () => {
    let lists = 0
    let watches = 0
    const { store } = await follow((request, response) => {
      if (!request.url?.includes('watch=')) return json(response, 200, list('5', `list${++lists}`))
      watches++
      if (watches === 1) return json(response, 410, status(410, 'Expired', 'too old'))
      response.writeHead(200)
      if (watches === 2) response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410 } })}\n`)
    })
    await expect.poll(() => store.seen).toEqual(['= list1', '= list2', '= list3'])
  })

  test('pages of a list are one list; a line may come in pieces and end in the middle of a letter', async () => {
    const { store } = await follow((request, response) => {
      const url = new URL(request.url ?? '', 'http://x')
      if (!url.searchParams.has('watch'))
        return url.searchParams.has('continue')
          ? json(response, 200, list('5', 'b'))
          : json(response, 200, { ...list('5', 'a'), metadata: { continue: 'next', resourceVersion: '5' } })
      response.writeHead(200)
      const bytes = Buffer.from(line('ADDED', 'ünï', '6') + line('DELETED', 'a', '7'))
      const cut = bytes.indexOf(0xc3) + 1
      response.write(bytes.subarray(0, cut))
      setTimeout(() => response.write(bytes.subarray(cut)), 20)
    })
    await expect.poll(() => store.seen).toEqual(['= a b', '+ ünï', '- a'])
  })

  test('a line without an end is bounded, and half a line at the end of a stream is no event', async () => {
    let watches = 0
    const { store, log } = await follow((request, response) => {
      if (!request.url?.includes('watch=')) return json(response, 200, list('5'))
      response.writeHead(200)
      watches++
      if (watches === 1) response.end('{"type":"ADDED","object":{}}'.slice(0, -1))
      else if (watches === 2) response.write('x'.repeat(9 * 1024 * 1024))
      else response.write(line('ADDED', 'c', '6'))
    })
    await expect.poll(() => store.seen).toEqual(['= ', '+ c'])
    expect(log.messages('warn')).toContain('a watch failed; retrying')
  })

  test('a server that flaps: lists and watches fail in turns, the store stays right', async () => {
    let turn = 0
    const { store } = await follow((request, response) => {
      turn++
      if (turn % 2 === 1) return turn % 4 === 1 ? json(response, 500, {}) : void response.destroy()
      if (!request.url?.includes('watch=')) return json(response, 200, list('5', 'a'))
      response.writeHead(200).write(line('ADDED', `p${turn}`, String(turn)))
      setTimeout(() => response.destroy(), 10)
    })
    await expect.poll(() => store.seen.length).toBeGreaterThan(3)
    expect(store.seen[0]).toBe('= a')
    expect(store.seen.slice(1).every((s) => s.startsWith('+ p'))).toBe(true)
  })

  test('an aborted signal ends it while it waits, lists or watches', async () => {
    for (const answer of [
      (_: IncomingMessage, response: ServerResponse) => json(response, 500, {}),
      () => undefined,
      (request: IncomingMessage, response: ServerResponse) =>
        request.url?.includes('watch=')
          ? void response.writeHead(200).flushHeaders()
          : json(response, 200, list('5')),
    ]) {
      const { stop, done, requests } = await follow(answer)
      await expect.poll(() => requests.length).toBeGreaterThan(0)
      stop.abort()
      await done
    }
  })
})
