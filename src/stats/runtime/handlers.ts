// Which pods run where the host's cgroups say nothing about them, by the runtime's own description of its handlers.

import type { StatsOptions } from '../stats-options.js'
import type { PodInfo } from './inventory.js'
import { opaqueHandlers } from './opaque-handlers.js'

export interface Handlers {
  refresh(signal: AbortSignal): Promise<void>
  isOpaque(pod: PodInfo): boolean
  forget(): void
}

/** Asked once for each life of the runtime. */
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
