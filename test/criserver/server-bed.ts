// A CRI server on a socket of its own in front of a given upstream, with the product's chain.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createCriClient } from '../../src/adapters/cri/client.js'
import { type CriServer, type CriServerOptions, startCriServer } from '../../src/adapters/cri/server.js'
import { createChain } from '../../src/criserver/chain.js'
import { createRpcTable, type RpcTable } from '../../src/criserver/rpc-table.js'
import type { Services } from '../../src/criserver/services.js'
import { createCgroupFinder } from '../../src/criserver/unified/cgroup-of.js'
import { createUnifiedKeeper } from '../../src/criserver/unified/keeper.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'

export interface ServerBed {
  readonly server: CriServer
  readonly socketPath: string
  readonly endpoint: string
  readonly table: RpcTable
  readonly errors: unknown[]
  readonly log: FakeLog
  close(): Promise<void>
}

export async function startServerBed(
  upstream: string,
  options: Partial<CriServerOptions> & { readonly services?: Partial<Services> } = {},
): Promise<ServerBed> {
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
  const services: Services = {
    version: 'test',
    client,
    findDriver: async () => ({ kind: 'unknown', reason: 'nobody looked', evidence: [] }),
    metricsUrl: () => undefined,
    cgroups,
    cgroupFinder: finder,
    pageSize: 4096n,
    unified: createUnifiedKeeper({
      cgroups,
      finder,
      pageSize: 4096n,
      log,
      written: { inc: () => {}, remove: () => {} },
    }),
    mode: 'complete',
    table,
    metrics: await createProcessMetrics({ processDefaults: false }),
    clock: createClock(),
    log,
    ...options.services,
  }
  const server = await startCriServer({
    listen: `unix://${join(dir, 'cri.sock')}`,
    upstream,
    handle: createChain(services),
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
    async close() {
      await server.close(0)
      client.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
