// The CRI server's part of the live picture: its RPC table, what it found out about the driver, its command line.
import type { LiveDriver, LiveRpc, LiveSetting, LiveSources } from '../../core/dashboard/model.js'
import { createCadvisorText } from '../../criserver/metrics/exposition.js'
import type { RpcRow } from '../../criserver/rpc-table.js'
import type { Services } from '../../criserver/services.js'
import type { Procfs } from '../../ports/procfs.js'
import { createBackgroundValue } from '../../serve/dashboard/background-value.js'
import { createLive, type ServedDashboard } from '../../serve/dashboard/create-dashboard.js'
import { parityOf } from '../../serve/dashboard/describe-sources.js'
import type { ServeSettings } from '../../serve/settings.js'
import { diagnose, openLivePorts } from '../dashboard-ports.js'

interface CriLiveInput {
  readonly services: Services
  readonly runtimeEndpoint: string
  readonly serve: ServeSettings
  readonly procfs: Procfs
  readonly settings: readonly LiveSetting[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

const doctorMs = 60_000
const driverMs = 30_000
const sourcesMs = 30_000
/** The runtime is asked, and then every cgroup. */
const collectMs = 10_000
const round = (ms: number): number => Math.round(ms * 1000) / 1000

const rpcOf = (row: RpcRow): LiveRpc => ({
  rpc: row.rpc,
  forwarded: row.forwarded,
  completed: row.completed,
  answered: row.answered,
  failed: Object.values(row.failures).reduce((sum, n) => sum + n, 0),
  missing: row.missing,
  p50Ms: round(row.p50Ms),
  p99Ms: round(row.p99Ms),
})

async function driverOf(
  { services: { findDriver } }: CriLiveInput,
  signal: AbortSignal,
): Promise<LiveDriver> {
  const finding = await findDriver(signal)
  const known = finding.kind === 'known' ? finding : undefined
  return {
    driver: known?.driver ?? null,
    source: finding.kind === 'known' ? finding.source : finding.reason,
    fallback: null,
    overruled: null,
    runtimeDiffers: null,
    agreeing: null,
    evidence: [...finding.evidence, ...(known?.warning === undefined ? [] : [known.warning])],
  }
}

const sourcesOf = async (services: Services): Promise<LiveSources> => ({
  fromCri: null,
  endpoints: [{ endpoint: '/metrics/cadvisor', source: 'cri-server', runtime: null }],
  parity: parityOf(await createCadvisorText(services).cadvisor(collectMs)),
  repaired: services.repairs.repaired(),
})

export function criLive(i: CriLiveInput): ServedDashboard {
  const { signal, services } = i
  const { clock } = services
  return createLive({
    ...openLivePorts(),
    process: 'cri',
    version: services.version,
    nodeName: i.serve.nodeName,
    client: services.client,
    cgroups: services.cgroups,
    procfs: i.procfs,
    clock,
    log: services.log,
    signal,
    parts: {
      driver: createBackgroundValue({
        clock,
        signal,
        everyMs: driverMs,
        meanwhile: 'waiting for the runtime',
        find: (s) => driverOf(i, s),
      }),
      config: () => ({ data: i.settings }),
      sources: createBackgroundValue({
        clock,
        signal,
        everyMs: sourcesMs,
        meanwhile: 'taking the first sample',
        find: () => sourcesOf(services),
      }),
      rpcs: () => ({ data: services.table.rows().map(rpcOf) }),
      warnings: createBackgroundValue({
        clock,
        signal,
        everyMs: doctorMs,
        meanwhile: 'the doctor is running',
        find: (s) => diagnose(i.env, i.runtimeEndpoint, s),
      }),
    },
  })
}
