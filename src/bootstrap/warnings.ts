// Warnings with an id that scripts may rely on; a notice is the same without an id.

const warningIds = [
  'scheme-prepended',
  'socket-autodetected',
  'autodetection-failed',
  'instance-config-created',
  'endpoint-flag-missing',
  'stale-endpoint-flag',
  'endpoint-flag-restored',
  'unknown-feature-gate',
  'locked-gate-ignored',
] as const

type WarningId = (typeof warningIds)[number]

export interface Warning {
  readonly id: WarningId
  readonly message: string
}

export const warning = (id: WarningId, message: string): Warning => ({ id, message })

/** Phases may come to the same warning by different ways; one is enough. */
export function uniqueWarnings(list: readonly Warning[]): Warning[] {
  const seen = new Map<WarningId, Warning>()
  for (const w of list) if (!seen.has(w.id)) seen.set(w.id, w)
  return [...seen.values()]
}
