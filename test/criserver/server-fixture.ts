// A CRI server on a socket of its own in front of a given upstream, with the product's chain.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { startCriServer } from '../../src/adapters/cri/server/server.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createStatsFiles } from '../../src/adapters/stats-files/stats-files.js'
import type { ValuesMode } from '../../src/core/cri/values-mode.js'
import { createChain } from '../../src/criserver/chain.js'
import { createContainerEvents } from '../../src/criserver/events/container-events.js'
import { completeClient, createLookHere } from '../../src/criserver/in-process.js'
import { createCadvisorText } from '../../src/criserver/metrics/exposition.js'
import { createMetricsSource } from '../../src/criserver/metrics/source.js'
import { createRpcTable, isEndless, type RpcTable } from '../../src/criserver/rpc-table.js'
import type { Services } from '../../src/criserver/services.js'
import { createValues } from '../../src/criserver/stats/read-values.js'
import { createCgroupFinder } from '../../src/criserver/unified/cgroup-of.js'
import { createUnifiedWriter } from '../../src/criserver/unified/write-missing.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { Procfs } from '../../src/ports/procfs.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { decodePieces } from '../../src/stats/render/text-bytes.js'
import { createRepairs, type Repairs } from '../../src/stats/repair/repairs.js'
import type { LookHere } from '../../src/stats/runtime/local-look.js'
import { createRuntimeNameFinder } from '../../src/stats/runtime/runtime-name.js'

export interface ServerFixture {
  readonly server: Awaited<ReturnType<typeof startCriServer>>
  readonly socketPath: string
  readonly endpoint: string
  readonly table: RpcTable
  readonly errors: unknown[]
  readonly log: FakeLog
  readonly repairs: Repairs
  /** The text of the Prometheus endpoint. */
  cadvisor(): Promise<string>
  /** As a process with the server inside has it. */
  complete(client: CriClient): CriClient
  readonly lookHere: LookHere
  close(): Promise<void>
}

export async function startServerFixture(
  upstream: string,
  options: Partial<Parameters<typeof startCriServer>[0]> & {
    readonly services?: Partial<Services>
    readonly procfs?: Procfs
    readonly valuesMode?: ValuesMode
  } = {},
): Promise<ServerFixture> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-criserver-'))
  const table = createRpcTable()
  const errors: unknown[] = []
  const log = new FakeLog()
  const client = createCriClient(upstream)
  const cgroups = options.services?.cgroups ?? new FakeCgroupTree()
  const finder =
    options.services?.cgroupFinder ??
    createCgroupFinder({
      runtime: client.runtime,
      procfs: { cgroupOf: () => undefined },
      cgroupVersion: 'v2',
    })
  const procfs = options.procfs ?? createProcfs()
  const clock = createClock()
  const life = new AbortController()
  const values =
    options.services?.values ??
    createValues({ client, cgroups, procfs, files: createStatsFiles(), clock, log })
  const metrics = await createProcessMetrics({ processDefaults: false })
  const events = createContainerEvents({ client, clock, log })
  const eventsEnd = events.run(life.signal)
  const services: Services = {
    values,
    metricsSource: createMetricsSource({ client, values, cgroups, procfs }),
    findRuntimeName: createRuntimeNameFinder(client, log),
    events,
    repairs: createRepairs(options.valuesMode ?? 'repair', metrics, cgroups.version),
    version: 'test',
    client,
    findDriver: async () => ({ kind: 'unknown', reason: 'nobody looked', evidence: [] }),
    metricsUrl: () => undefined,
    cgroups,
    cgroupFinder: finder,
    pageSize: 4096n,
    unified: createUnifiedWriter({
      cgroups,
      clock,
      signal: life.signal,
      finder,
      pageSize: 4096n,
      log,
      written: { inc: () => {}, remove: () => {} },
    }),
    mode: 'complete',
    table,
    metrics,
    clock,
    log,
    ...options.services,
  }
  const server = await startCriServer({
    listen: `unix://${join(dir, 'cri.sock')}`,
    upstream,
    handle: createChain(services),
    isEndless,
    onError: (e) => errors.push(e),
    ...options,
  })
  return {
    server,
    socketPath: server.socketPath,
    endpoint: server.endpoint,
    table,
    errors,
    log,
    repairs: services.repairs,
    cadvisor: async () => decodePieces(await createCadvisorText(services).cadvisor(5_000)),
    complete: (other) => completeClient(other, services),
    lookHere: createLookHere(services),
    async close() {
      life.abort()
      await eventsEnd
      await server.close(0)
      values.close()
      client.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
