// Hooks against a real server on loopback: what is sent, and the way back from TLS to HTTP.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { specOf } from '../../../test/support/pod-manifest.js'
import { createProbeCalls } from '../../adapters/probes/probe-calls.js'
import { FakeClock } from '../../fakes/clock.js'
import type { PodEvent } from '../events/pod-events.js'
import { runHook } from './run-hook.js'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

async function serve(seen: IncomingMessage[], status = 200): Promise<number> {
  const server = createServer((request, response) => {
    seen.push(request)
    response.statusCode = status
    response.end()
  })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function run(hook: object, exitCode = 0) {
  const events: PodEvent[] = []
  const spec = specOf({ containers: [{ name: 'a', image: 'i', lifecycle: { postStart: hook } }] })
  const [container] = spec.containers
  const action = container?.hooks.postStart
  if (container === undefined || action === undefined) throw new Error('no hook')
  const commands: unknown[] = []
  const problem = await runHook(
    action,
    { pod: spec.pod, container, containerId: 'c1', podIP: '127.0.0.1' },
    {
      runtime: {
        execSync: async (request) => {
          commands.push(request)
          return { exitCode, stdout: Buffer.of(), stderr: Buffer.of() }
        },
      },
      calls: createProbeCalls(),
      clock: new FakeClock(),
      events: { pod: (_, event) => void events.push(event) },
      release: '1.37',
    },
    5_000,
    new AbortController().signal,
  )
  return { problem, events, commands }
}

test('any answer will do', async () => {
  const seen: IncomingMessage[] = []
  const port = await serve(seen, 500)
  expect(await run({ httpGet: { port, path: '/hook' } })).toMatchObject({ problem: undefined, events: [] })
  expect(seen.map(({ url, headers }) => [url, headers['user-agent']])).toEqual([
    ['/hook', 'kube-lifecycle/1.37'],
  ])
})

test('an HTTPS hook that is answered in HTTP is sent again without TLS and without its credentials', async () => {
  const seen: IncomingMessage[] = []
  const port = await serve(seen)
  const httpHeaders = [
    { name: 'Authorization', value: 'secret' },
    { name: 'X-Kept', value: 'yes' },
  ]
  const { problem, events } = await run({ httpGet: { port, scheme: 'HTTPS', httpHeaders } })
  expect(problem).toBeUndefined()
  expect(seen).toHaveLength(1)
  expect(seen[0]?.headers).toMatchObject({ 'x-kept': 'yes' })
  expect(seen[0]?.headers).not.toHaveProperty('authorization')
  expect(events).toMatchObject([
    {
      reason: 'LifecycleHTTPFallback',
      message: `request to HTTPS lifecycle hook 127.0.0.1:${port} got HTTP response, retry with HTTP succeeded`,
    },
  ])
})

test('nothing listens, or the port has no name', async () => {
  const seen: IncomingMessage[] = []
  const port = await serve(seen)
  const [server] = open.splice(0)
  server?.close()
  if (server !== undefined) await once(server, 'close')
  expect((await run({ httpGet: { port } })).problem).toContain('connect: connection refused')
  expect((await run({ httpGet: { port: 'web' } })).problem).toBe('port "web" not found')
})

test('a command as written, and its failure', async () => {
  const { problem, commands } = await run({ exec: { command: ['a', '$(B)'] } })
  expect(problem).toBeUndefined()
  expect(commands).toEqual([{ containerId: 'c1', cmd: ['a', '$(B)'], timeout: 0n }])
  expect((await run({ exec: { command: ['a'] } }, 7)).problem).toBe("command 'a' exited with 7")
})
