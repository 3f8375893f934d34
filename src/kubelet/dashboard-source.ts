// The kubelet's part of the live picture: driver, configuration with origins, sources of values, the plan of Memory QoS and
// the requests of its own pods.
import { formatOrigin } from '../config/origin.js'
import type { LiveCluster, LiveDriver, LiveSetting, Part } from '../core/dashboard/model.js'
import type { PodJson } from '../core/pod/document.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { CriClient } from '../ports/runtime.js'
import { createBackgroundValue } from '../serve/dashboard/background-value.js'
import { createLive, type ServedDashboard } from '../serve/dashboard/create-dashboard.js'
import { describeSources } from '../serve/dashboard/describe-sources.js'
import { createPlanCache } from '../serve/dashboard/plan-cache.js'
import { createSpecRequests } from '../serve/dashboard/spec-requests.js'
import type { MemoryQosView } from '../serve/endpoints/memory-qos.js'
import type { Stats } from '../stats/create-stats.js'
import type { ConfigzFacts } from './configz.js'
import type { KubeletLivePorts, KubeletPorts } from './kubelet-ports.js'

interface KubeletLiveInput {
  readonly facts: () => Omit<ConfigzFacts, 'stats' | 'metricsUrl'>
  readonly nodeName: string
  readonly client: CriClient
  readonly cgroups: CgroupTree | undefined
  readonly podRoots: readonly string[]
  readonly stats: Stats
  readonly memoryQos: MemoryQosView | undefined
  readonly pods: (() => readonly PodJson[]) | undefined
  readonly cluster: () => Part<LiveCluster>
  readonly ports: KubeletPorts & { readonly live: KubeletLivePorts }
  readonly signal: AbortSignal
}

const doctorMs = 60_000
const sourcesMs = 10_000

function liveDriver({
  inUse,
  proof,
  runtimeDiffers,
}: Omit<ConfigzFacts, 'stats' | 'metricsUrl'>): LiveDriver {
  return {
    driver: inUse.driver ?? null,
    source: inUse.source,
    fallback: inUse.fallback ?? null,
    overruled: inUse.overruled === undefined ? null : `${inUse.overruled.value} (${inUse.overruled.place})`,
    runtimeDiffers: runtimeDiffers ?? null,
    agreeing: proof?.agreeing ?? null,
    evidence: (proof?.findings ?? []).map((f) => `${f.message}; ${f.remedy}`),
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Leaves of the document, each with the origin of itself or of the nearest field above. */
function liveSettings({ loaded, inUse }: Pick<ConfigzFacts, 'loaded' | 'inUse'>): LiveSetting[] {
  const originOf = (path: string): string => {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
      const origin = loaded.origins[at]
      if (origin !== undefined) return formatOrigin(origin)
    }
    return 'default'
  }
  const leaves = (value: unknown, path: string): LiveSetting[] => {
    if (isObject(value) && Object.keys(value).length > 0)
      return Object.entries(value).flatMap(([key, v]) => leaves(v, path === '' ? key : `${path}.${key}`))
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (path === 'cgroupDriver' && inUse.source === 'cri')
      return [{ path, value: inUse.driver ?? text, origin: 'runtime (RuntimeConfig)' }]
    return [{ path, value: text, origin: originOf(path) }]
  }
  return leaves(loaded.config.document, '').sort((a, b) => (a.path < b.path ? -1 : 1))
}

export function kubeletLive(i: KubeletLiveInput): ServedDashboard {
  const { ports, signal, memoryQos } = i
  const { clock, live } = ports
  const settings = { data: liveSettings(i.facts()) }
  const kept = { clock, signal }
  const warnings = createBackgroundValue({
    ...kept,
    everyMs: doctorMs,
    meanwhile: 'the doctor is running',
    find: (s) => live.diagnose(s),
  })
  const sources = createBackgroundValue({
    ...kept,
    everyMs: sourcesMs,
    meanwhile: 'taking the first sample',
    find: () => describeSources(i.stats),
  })
  return createLive({
    ...live,
    signal,
    process: 'kubelet',
    nodeName: i.nodeName,
    client: i.client,
    cgroups: i.cgroups,
    procfs: ports.procfs,
    clock,
    log: ports.log,
    ...(i.podRoots.length === 0 ? {} : { podRoots: i.podRoots }),
    parts: {
      driver: () => ({ data: liveDriver(i.facts()) }),
      config: () => settings,
      sources,
      cluster: i.cluster,
      rpcs: () => ({
        absent: 'The CRI server (`keelson cri`) counts calls; its dashboard is on port 10252.',
      }),
      warnings,
      ...(memoryQos === undefined ? {} : { plan: createPlanCache(clock, () => memoryQos.live()) }),
      ...(i.pods === undefined ? {} : { requests: createSpecRequests(clock, i.pods) }),
    },
  })
}
