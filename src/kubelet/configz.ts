// What /configz shows: KubeletConfiguration with the driver that is really used, where every value came from, and
// what is known about the driver and the node.
import type { LoadedConfig } from '../config/load.js'
import type { Json } from '../config/node.js'
import { formatOrigin } from '../config/origin.js'
import type { CgroupDriver } from '../core/cgroup/name.js'
import type { DriverInUse } from '../core/driver/decide-driver.js'
import type { DriverProof } from '../core/driver/proof.js'
import { formatVersion } from '../core/release/version.js'
import type { ConfigzContent } from '../serve/endpoints/configz.js'
import type { StatsDescription } from '../stats/sources.js'
import type { NodeFacts } from './node/node-facts.js'

export interface ConfigzFacts {
  readonly loaded: LoadedConfig
  readonly inUse: DriverInUse
  readonly proof: DriverProof | undefined
  readonly node: NodeFacts | undefined
  readonly runtime: { readonly name: string; readonly version: string; readonly socket: string }
  /** Where the runtime serves container metrics of its own. */
  readonly metricsUrl: string | undefined
  /** Which source the values of pods come from, by endpoint. */
  readonly stats: StatsDescription
  /** What the runtime says since it came back, where that differs. */
  readonly runtimeDiffers: CgroupDriver | undefined
}

export function kubeletConfigz(facts: ConfigzFacts): ConfigzContent {
  const { loaded, inUse } = facts
  const { config } = loaded
  const origins = Object.fromEntries(
    Object.entries(loaded.origins).map(([path, origin]) => [path, formatOrigin(origin)]),
  )
  if (inUse.source === 'cri')
    origins.cgroupDriver = formatOrigin({ from: 'runtime', detail: 'RuntimeConfig' })
  return {
    kubeletconfig: printable(withDriver(config.document, inUse.driver)),
    keelson: printable({
      kubernetesVersion: formatVersion(config.version),
      profile: config.profile,
      cgroupDriver: {
        driver: inUse.driver ?? null,
        source: inUse.source,
        fallback: inUse.fallback ?? null,
        overruled: inUse.overruled ?? null,
        runtimeDiffers: facts.runtimeDiffers ?? null,
        sandboxesThatAgree: facts.proof?.agreeing ?? null,
        findings: facts.proof?.findings ?? [],
      },
      runtime: { ...facts.runtime, metricsUrl: facts.metricsUrl ?? null },
      stats: facts.stats,
      node: facts.node ?? null,
      warnings: loaded.warnings.map((w) => ({ id: w.id, message: w.message, from: formatOrigin(w.origin) })),
      origins,
    }),
  }
}

function withDriver(document: Json, driver: CgroupDriver | undefined): Json {
  if (document === null || typeof document !== 'object' || Array.isArray(document)) return document
  return driver === undefined ? document : { ...document, cgroupDriver: driver }
}

/** JSON has no bigint; amounts are printed as text. */
function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(printable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, printable(v)]))
}
