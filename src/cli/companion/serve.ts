// What the companion serves: its plan and state, values of the pods, the dashboard.
import type { LiveSetting } from '../../core/dashboard/model.js'
import { statsEndpoints } from '../../kubelet/node/node-stats.js'
import type { KubeCalls } from '../../ports/kube-calls.js'
import type { Metrics } from '../../ports/metrics.js'
import { memoryQosEndpoint } from '../../serve/endpoints/memory-qos.js'
import type { RunningServer } from '../../serve/start-server.js'
import type { Stats } from '../../stats/create-stats.js'
import { startNodeServer } from '../node-server.js'
import { serverSettings } from '../server-flags.js'
import { type CompanionLiveInput, companionLive } from './dashboard.js'
import type { CompanionCommandOptions } from './options.js'
import { createCompanionStats } from './stats.js'

export interface CompanionServeInput extends Omit<CompanionLiveInput, 'stats'> {
  readonly options: CompanionCommandOptions
  readonly flags: readonly LiveSetting[]
  readonly metrics: Metrics
  readonly api: KubeCalls | undefined
}

export interface ServedCompanion {
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
    endpoints: [memoryQosEndpoint(memoryQos), ...statsEndpoints(stats), ...companionLive({ ...i, stats })],
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
