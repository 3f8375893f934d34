// One life of the CRI server: adapters, services, chain, sockets, from start to signal. Starts whether the runtime is
// there or not.
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { startCriServer } from '../../adapters/cri/server/server.js'
import { createFiles } from '../../adapters/files/files.js'
import { changedNanos, mtimeNanos } from '../../adapters/files/times.js'
import { parseToml } from '../../adapters/files/toml.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { createStatsFiles } from '../../adapters/stats-files/stats-files.js'
import type { LiveSetting } from '../../core/dashboard/model.js'
import { createChain } from '../../criserver/chain.js'
import { createDriverFinder } from '../../criserver/driver/find.js'
import { createContainerEvents } from '../../criserver/events/container-events.js'
import { criEndpoints } from '../../criserver/http.js'
import { completeClient, createLookHere } from '../../criserver/in-process.js'
import { createMetricsSource } from '../../criserver/metrics/source.js'
import { createReachLog, watchReach } from '../../criserver/reach.js'
import { createRpcTable, isEndless } from '../../criserver/rpc-table.js'
import type { Services } from '../../criserver/services.js'
import { createValues } from '../../criserver/stats/read-values.js'
import { createCgroupFinder } from '../../criserver/unified/cgroup-of.js'
import { createUnifiedWriter } from '../../criserver/unified/write-missing.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { CriClient } from '../../ports/runtime.js'
import type { ServedDashboard } from '../../serve/dashboard/create-dashboard.js'
import type { ServeSettings } from '../../serve/settings.js'
import { createRepairs } from '../../stats/repair/repairs.js'
import type { LookHere } from '../../stats/runtime/local-look.js'
import { createRuntimeNameFinder } from '../../stats/runtime/runtime-name.js'
import { openCgroupFiles } from '../cgroup-files.js'
import { type NodeServer, startNodeServer } from '../node-server.js'
import { createDaemonMetrics } from '../process/daemon-metrics.js'
import { version } from '../version.js'
import { criLive } from './dashboard.js'
import type { CriServerOptions } from './options.js'

export interface RunningCri {
  readonly socketPath: string
  /** Undefined: no HTTP server was asked for. */
  readonly url: string | undefined
  /** The same CRI for this process; the client is one of the runtime behind the server. */
  complete(client: CriClient): CriClient
  /** For the stats of this process. */
  readonly lookHere: LookHere
  close(): Promise<void>
}

/** Ours to the runtime, apart from the calls of clients, which have their own deadlines. */
const ownTimeoutMs = 30_000
const graceMs = 5_000

/** For the dashboard. */
interface CommandFacts {
  readonly settings: readonly LiveSetting[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the process; undefined: the server has it for itself. */
  readonly metrics?: Metrics
}

export async function startCri(
  o: CriServerOptions,
  log: Log,
  command: CommandFacts = { settings: [], env: {} },
): Promise<RunningCri> {
  if (o.runtimeConfig !== undefined && mtimeNanos(o.runtimeConfig) === undefined)
    log.warn('the file of --runtime-config does not exist', { file: o.runtimeConfig })
  const client = createCriClient(o.runtimeEndpoint, { timeoutMs: ownTimeoutMs })
  const cgroups = openCgroupFiles(o.cgroupMount)
  const procfs = createProcfs(o.procMount === undefined ? {} : { proc: o.procMount })
  const metrics = command.metrics ?? (await createDaemonMetrics())
  const cgroupFinder = createCgroupFinder({ runtime: client.runtime, procfs, cgroupVersion: cgroups.version })
  const clock = createClock()
  const values = createValues({ client, cgroups, procfs, files: createStatsFiles(), clock, log })
  const events = createContainerEvents({ client, clock, log })
  const served: { url?: string } = {}
  const life = new AbortController()
  const services: Services = {
    version,
    mode: o.mode,
    table: createRpcTable(),
    metrics,
    clock,
    log,
    client,
    cgroups,
    cgroupFinder,
    pageSize: createProcfs().pageSize(),
    values,
    metricsSource: createMetricsSource({ client, values, cgroups, procfs }),
    findRuntimeName: createRuntimeNameFinder(client, log),
    repairs: createRepairs(o.values, metrics, cgroups.version),
    events,
    unified: createUnifiedWriter({
      cgroups,
      clock,
      signal: life.signal,
      finder: cgroupFinder,
      pageSize: createProcfs().pageSize(),
      log,
      written: metrics.counter(
        'keelson_cri_unified_writes_total',
        'Values of `unified` that the runtime did not write to the cgroup of a container, written by the CRI server.',
        ['file'],
      ),
    }),
    metricsUrl: () => (served.url === undefined ? undefined : `${served.url}/metrics/cadvisor`),
    findDriver: createDriverFinder({
      client,
      operator: o.cgroupDriver,
      configFile: o.runtimeConfig,
      files: createFiles(),
      mtimeNanos,
      changedNanos,
      parseToml,
      procfs,
      cgroupVersion: cgroups.version,
      log,
    }),
  }
  const reach = createReachLog(log, clock)
  // A separate connection: after a refusal it backs off, and calls must not wait for that.
  const lookout = createCriClient(o.runtimeEndpoint, { timeoutMs: ownTimeoutMs })
  const loops = [
    values.run(life.signal),
    events.run(life.signal),
    watchReach({ client: lookout, clock, reach, signal: life.signal }),
  ]
  const closers: (() => void | Promise<void>)[] = [
    () => client.close(),
    () => lookout.close(),
    () => cgroups.close(),
    async () => {
      life.abort()
      values.close()
      await Promise.all(loops)
    },
  ]
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const server = await startCriServer({
      listen: o.listen,
      upstream: o.runtimeEndpoint,
      ...(o.imageEndpoint === undefined ? {} : { imageUpstream: o.imageEndpoint }),
      handle: createChain(services),
      isEndless,
      onReach: (socket, error) => reach.report(socket, error),
      onError: (error, call) => log.error('call failed', { path: call.path, error }),
    })
    closers.push(() => server.close(graceMs))
    metrics.gauge('keelson_cri_clients', 'Clients that are connected.', [], (g) =>
      g.set(server.counts.clients),
    )
    metrics.gauge('keelson_cri_upstream_connections', 'Connections to the runtime that are open.', [], (g) =>
      g.set(server.counts.upstream),
    )
    const ended = new AbortController()
    const http = await serveHttp(o, services, log, (serve) =>
      criLive({ services, ...command, ...o, serve, procfs, signal: ended.signal }),
    )
    if (http !== undefined) {
      served.url = http.url
      closers.push(() => http.close(graceMs))
    }
    // First of all: an open page would hold the end up for as long as the HTTP server waits.
    closers.push(() => ended.abort(new Error('the CRI server was closed')))
    log.info('CRI server started', {
      listen: server.endpoint,
      upstream: client.endpoint,
      mode: o.mode,
      values: o.values,
      https: http?.listening,
      url: http?.url,
    })
    return {
      socketPath: server.socketPath,
      url: http?.url,
      complete: (other) => completeClient(other, services),
      lookHere: createLookHere(services),
      close,
    }
  } catch (e) {
    await close()
    throw e
  }
}

async function serveHttp(
  o: CriServerOptions,
  services: Services,
  log: Log,
  dashboard: (settings: ServeSettings) => ServedDashboard,
): Promise<NodeServer | undefined> {
  if (o.serve === undefined) return undefined
  return await startNodeServer({
    settings: o.serve,
    endpoints: criEndpoints(services, o.runtimeEndpoint, dashboard(o.serve)),
    configz: () => ({
      kubeletconfig: null,
      keelson: {
        mode: o.mode,
        values: o.values,
        listen: o.listen,
        upstream: o.runtimeEndpoint,
        imageUpstream: o.imageEndpoint ?? o.runtimeEndpoint,
        cgroupDriver: o.cgroupDriver ?? null,
        runtimeConfig: o.runtimeConfig ?? null,
      },
    }),
    metrics: services.metrics,
    log,
    ...(o.kubeconfig === undefined ? {} : { kubeconfig: o.kubeconfig }),
  })
}
