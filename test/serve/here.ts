// A server inside the test's own process, on real TLS and free ports, for what needs no process of its own.

import { startNodeServer } from '../../src/cli/node-server.js'
import { FakeLog, type LogLine } from '../../src/fakes/log.js'
import type { Endpoint } from '../../src/serve/endpoint.js'
import { textAnswer } from '../../src/serve/failures.js'
import type { HealthCheck } from '../../src/serve/health.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import type { ServeSettings } from '../../src/serve/settings.js'
import type { RunningServer } from '../../src/serve/start-server.js'
import { type ProcessName, settingsIn, temporaryDirectory } from './start.js'

export interface Here extends RunningServer {
  readonly directory: string
  readonly lines: readonly LogLine[]
  end(): Promise<void>
}

export interface HereOptions {
  readonly process?: ProcessName
  readonly settings?: Partial<ServeSettings>
  readonly endpoints?: readonly Endpoint[]
  readonly healthChecks?: readonly HealthCheck[]
  readonly prepare?: (directory: string) => Partial<ServeSettings>
}

export const sayPods: Endpoint = {
  name: 'pods',
  path: '/pods',
  methods: ['GET'],
  readOnly: true,
  handle: (_, { user }) => textAnswer(`pods for ${user.name}`),
}
export const sayRun: Endpoint = {
  name: 'run',
  path: '/run/{namespace}/{pod}/{container}',
  methods: ['POST'],
  handle: async (_, { readBody }) => textAnswer(`ran ${(await readBody()).length}`),
}

export async function startHere(o: HereOptions = {}): Promise<Here> {
  const directory = temporaryDirectory()
  const log = new FakeLog()
  const more = { ...o.prepare?.(directory.path), ...o.settings }
  const server = await startNodeServer({
    settings: settingsIn(directory.path, o.process ?? 'kubelet', more),
    endpoints: o.endpoints ?? [sayPods, sayRun],
    healthChecks: o.healthChecks ?? [],
    configz: () => ({ kubeletconfig: { port: 10250 }, keelson: { origins: { port: 'default' } } }),
    metrics: await createProcessMetrics({ processDefaults: false }),
    log,
  }).catch((e: unknown) => {
    directory.remove()
    throw e
  })
  return {
    ...server,
    directory: directory.path,
    lines: log.lines,
    async end() {
      await server.close(0)
      directory.remove()
    },
  }
}
