// The companion's part of the live picture: the plan of Memory QoS beside another kubelet, its sources, its settings.
import type { KeelsonConfig } from '../../config/keelson-schema.js'
import { formatOrigin, type Origin } from '../../config/origin.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { LiveDriver, LiveSetting } from '../../core/dashboard/model.js'
import { podPaths } from '../../kubelet/node/node-stats.js'
import type { KubeletSettings } from '../../memory-qos/decide/kubelet-settings.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { createBackgroundValue } from '../../serve/dashboard/background-value.js'
import { createLive, type ServedDashboard } from '../../serve/dashboard/create-dashboard.js'
import { describeSources } from '../../serve/dashboard/describe-sources.js'
import { createPlanCache } from '../../serve/dashboard/plan-cache.js'
import type { MemoryQosView } from '../../serve/endpoints/memory-qos.js'
import type { Stats } from '../../stats/create-stats.js'
import { diagnose, openLivePorts } from '../dashboard-ports.js'
import { version } from '../version.js'

export interface CompanionLiveInput {
  readonly nodeName: string
  readonly client: CriClient
  readonly cgroups: CgroupTree
  readonly procfs: Procfs
  readonly clock: Clock
  readonly log: Log
  readonly driver: CgroupDriver
  readonly settings: KubeletSettings
  readonly stats: Stats
  readonly memoryQos: MemoryQosView
  readonly flags: readonly LiveSetting[]
  readonly config: KeelsonConfig
  readonly origins: Readonly<Record<string, Origin>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

const doctorMs = 60_000
const sourcesMs = 10_000

const driverOf = ({ driver, settings }: CompanionLiveInput): LiveDriver => ({
  driver,
  source: 'the kubelet beside it',
  fallback: null,
  overruled: null,
  runtimeDiffers: null,
  agreeing: null,
  evidence: [
    `the kubelet's configuration says ${settings.cgroupDriver ?? 'nothing'}`,
    `pods are below ${podPaths(driver, settings.cgroupRoot).podRoots.join(', ')}`,
  ],
})

/** Fields of KeelsonConfiguration that this process honours; a command line comes after. */
const policyOf = ({ config, origins }: CompanionLiveInput): LiveSetting[] =>
  Object.entries(config.companion).map(([key, value]) => {
    const origin = origins[`companion.${key}`]
    return {
      path: `companion.${key}`,
      value: String(value),
      origin: origin === undefined ? 'default' : formatOrigin(origin),
    }
  })

export function companionLive(i: CompanionLiveInput): ServedDashboard {
  const { clock, signal, memoryQos } = i
  const settings = { data: [...policyOf(i), ...i.flags] }
  return createLive({
    ...openLivePorts(),
    signal,
    process: 'companion',
    version,
    nodeName: i.nodeName,
    client: i.client,
    cgroups: i.cgroups,
    procfs: i.procfs,
    clock,
    log: i.log,
    podRoots: podPaths(i.driver, i.settings.cgroupRoot).podRoots,
    parts: {
      driver: () => ({ data: driverOf(i) }),
      config: () => settings,
      sources: createBackgroundValue({
        clock,
        signal,
        everyMs: sourcesMs,
        meanwhile: 'taking the first sample',
        find: () => describeSources(i.stats),
      }),
      rpcs: () => ({
        absent: 'The CRI server (`keelson cri`) counts calls; its dashboard is on port 10252.',
      }),
      warnings: createBackgroundValue({
        clock,
        signal,
        everyMs: doctorMs,
        meanwhile: 'the doctor is running',
        find: (s) => diagnose(i.env, i.client.endpoint, s),
      }),
      plan: createPlanCache(clock, () => memoryQos.live()),
    },
  })
}
