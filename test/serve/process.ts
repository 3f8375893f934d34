// A process that serves as kubelet, companion and CRI server do, with stand-ins for endpoints that those commands add.
// Run as: node --import tsx process.ts SETTINGS.json; prints one line of JSON when it is ready.
import { readFileSync } from 'node:fs'
import { createLog } from '../../src/adapters/log/log.js'
import { startNodeServer } from '../../src/cli/node-server.js'
import type { Endpoint } from '../../src/serve/endpoint.js'
import { textAnswer } from '../../src/serve/failures.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import type { ServeSettings } from '../../src/serve/settings.js'

interface Input {
  readonly settings: ServeSettings
  readonly kubeconfig?: string
}

const unit = (
  name: string,
  path: string,
  methods: readonly string[],
  more: Partial<Endpoint> = {},
): Endpoint => ({
  name,
  path,
  methods,
  ...more,
  handle: async (request, { user, readBody }) => {
    if (request.upgrade)
      return {
        takeOver: ({ socket }) =>
          new Promise((resolve) => {
            socket.once('close', resolve)
            socket.end(
              'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
            )
          }),
      }
    const body = await readBody()
    return textAnswer(`${name} for ${user.name}, ${body.length} bytes`)
  },
})

const both = ['GET', 'POST']
const target = '/{namespace}/{pod}/{container}'
const endpoints: readonly Endpoint[] = [
  unit('pods', '/pods', ['GET'], { readOnly: true }),
  unit('runningpods', '/runningpods', ['GET']),
  unit('stats/summary', '/stats/summary', both, { readOnly: true }),
  unit('metrics/cadvisor', '/metrics/cadvisor', ['GET'], { readOnly: true }),
  unit('metrics/resource', '/metrics/resource', ['GET'], { readOnly: true }),
  unit('exec', `/exec${target}`, both, { longRunning: true }),
  unit('attach', `/attach${target}`, both, { longRunning: true }),
  unit('portForward', '/portForward/{namespace}/{pod}', both, { longRunning: true }),
  unit('run', `/run${target}`, ['POST']),
  unit('containerLogs', `/containerLogs${target}`, ['GET'], { longRunning: true }),
  unit('logs', '/logs/{path...}', ['GET']),
  unit('checkpoint', `/checkpoint${target}`, ['POST']),
]

const input = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Input
const server = await startNodeServer({
  ...input,
  endpoints,
  configz: () => ({ kubeletconfig: { kind: 'KubeletConfiguration' }, keelson: { origins: {} } }),
  metrics: await createProcessMetrics(),
  log: createLog({ format: 'json', level: 'debug' }),
})
const { url, port, healthPort, readOnlyPort } = server
process.stdout.write(`${JSON.stringify({ url, port, healthPort, readOnlyPort })}\n`)
process.once('SIGTERM', () => {
  void server.close(500).then(() => process.exit(0))
})
