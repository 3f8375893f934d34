// Runtime handlers whose pods run where the host's cgroups say nothing true about them: virtual machines and user-space
// kernels. containerd describes its handlers in the verbose status; cgroups are read for handlers without a description.
import type { StatsOptions } from '../stats-options.js'
import type { PodInfo } from './inventory.js'

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (v: unknown): Fields | undefined =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Fields) : undefined

/** Shims that run containers as ordinary processes. */
const ordinary = /^io\.containerd\.(runc|runtime)\./

/** `info.config` of Status -> names of handlers; the default handler also goes by the empty name. */
export function opaqueHandlers(configJson: string | undefined): ReadonlySet<string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(configJson ?? '{}')
  } catch {
    return new Set()
  }
  const containerd = fieldsOf(fieldsOf(parsed)?.containerd)
  const names = Object.entries(fieldsOf(containerd?.runtimes) ?? {})
    .filter(([, runtime]) => {
      const type = fieldsOf(runtime)?.runtimeType ?? fieldsOf(runtime)?.runtime_type
      return typeof type === 'string' && type !== '' && !ordinary.test(type)
    })
    .map(([name]) => name)
  const standard = containerd?.defaultRuntimeName ?? containerd?.default_runtime_name
  return new Set(names.some((name) => name === standard) ? [...names, ''] : names)
}

export interface Handlers {
  refresh(signal: AbortSignal): Promise<void>
  isOpaque(pod: PodInfo): boolean
  /** The runtime was restarted: it is asked again. */
  forget(): void
}

/** The runtime is asked once for each connection. */
export function createHandlers({
  client,
  listTimeoutMs = 5_000,
}: Pick<StatsOptions, 'client' | 'listTimeoutMs'>): Handlers {
  let opaque: ReadonlySet<string> | undefined
  return {
    async refresh(signal: AbortSignal): Promise<void> {
      if (opaque !== undefined) return
      try {
        const status = await client.runtime.status({ verbose: true }, { timeoutMs: listTimeoutMs, signal })
        opaque = opaqueHandlers(status.info.config)
      } catch {
        signal.throwIfAborted()
      }
    },
    isOpaque: (pod: PodInfo): boolean => opaque?.has(pod.runtimeHandler) === true,
    forget(): void {
      opaque = undefined
    },
  }
}
