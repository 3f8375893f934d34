// What the companion serves over HTTPS, besides what every process has (`serve/common-endpoints.ts`).
import type { LiveSetting } from '../../core/dashboard/model.js'
import type { KubeCalls } from '../../ports/kube-calls.js'
import type { Metrics } from '../../ports/metrics.js'
import type { ServedDashboard } from '../../serve/dashboard/create-dashboard.js'
import type { Endpoint } from '../../serve/endpoint.js'
import { dashboardPage } from '../../serve/endpoints/dashboard.js'
import { dashboardApi } from '../../serve/endpoints/dashboard-api.js'
import { type MemoryQosView, memoryQosEndpoint } from '../../serve/endpoints/memory-qos.js'
import { metricsCadvisor } from '../../serve/endpoints/metrics-cadvisor.js'
import { metricsResource } from '../../serve/endpoints/metrics-resource.js'
import { statsSummary } from '../../serve/endpoints/stats-summary.js'
import type { RunningServer } from '../../serve/start-server.js'
import type { Stats } from '../../stats/create-stats.js'
import { startNodeServer } from '../node-server.js'
import { serverSettings } from '../server-flags.js'
import { type CompanionLiveInput, companionLive } from './dashboard.js'
import type { CompanionCommandOptions } from './options.js'
import { createCompanionStats } from './stats.js'

const companionEndpoints = (
  memoryQos: MemoryQosView,
  stats: Stats,
  dashboard: ServedDashboard,
): readonly Endpoint[] => [
  memoryQosEndpoint(memoryQos),
  statsSummary(stats),
  metricsResource(stats),
  metricsCadvisor(stats),
  ...dashboardApi(dashboard),
  ...dashboardPage(dashboard.page),
]

interface CompanionServeInput extends Omit<CompanionLiveInput, 'stats'> {
  readonly options: CompanionCommandOptions
  readonly flags: readonly LiveSetting[]
  readonly metrics: Metrics
  readonly api: KubeCalls | undefined
}

interface ServedCompanion {
  readonly server: RunningServer
  readonly stats: Stats
}

/** Undefined with port 0: then no values are gathered either. */
export async function serveCompanion(i: CompanionServeInput): Promise<ServedCompanion | undefined> {
  const { api, config, driver, log, memoryQos, metrics, nodeName, options } = i
  const port = options.port ?? config.ports.companion
  if (port === 0) return undefined
  const stats = await createCompanionStats({
    ...i,
    cgroupRoot: i.settings.cgroupRoot,
    switches: config.metrics,
  })
  const server = await startNodeServer({
    settings: serverSettings({ ...options, port }, 'companion', nodeName),
    endpoints: companionEndpoints(memoryQos, stats, companionLive({ ...i, stats })),
    configz: () => ({
      kubeletconfig: {},
      keelson: { companion: config.companion, driver, stats: stats.describe() },
    }),
    metrics,
    log,
    ...(api === undefined ? {} : { api }),
  })
  return { server, stats }
}
