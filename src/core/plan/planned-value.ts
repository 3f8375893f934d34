// What becomes of one file or number: a value, or nothing, each with the reason and the formula filled in.
// Reports print these as they are; writers turn "nothing" into the value that clears the file.

export const reasonCodes = [
  // a value, because
  'formula',
  'request',
  'reservation',
  'sum-of-requests',
  'no-request',
  'policy-none',
  'other-file-protects',
  'limit',
  'pod-level-limit-applies',
  'allocatable',
  'capacity',
  'swap-disabled',
  'swap-not-allowed',
  'swap-share',
  'group-kill',
  'cpu-request',
  'best-effort',
  'node-critical',
  'sidecar',
  'clamped',
  'quota-off',
  // nothing, because
  'gate-off',
  'cgroup-v1',
  'factor-unset',
  'pod-guaranteed',
  'request-equals-limit',
  'pod-level-limit',
  'allocatable-unknown',
  'capacity-unknown',
  'not-above-request',
  'above-limit',
  'no-limit',
  'limits-incomplete',
  'no-pod-level-resources',
  'generation-without-pod-level',
  'per-container',
  'single-process-kill',
  'no-reservation',
  'compressible-only',
  'cgroups-per-qos-off',
  'besteffort-unprotected',
  'ephemeral',
] as const

export type ReasonCode = (typeof reasonCodes)[number]

export interface Value<V> {
  readonly kind: 'value'
  readonly value: V
  readonly code: ReasonCode
  /** A whole sentence part, without full stop: "the memory limit of the container". */
  readonly reason: string
  /** The arithmetic with its numbers filled in, ending in `= value`; absent where nothing is computed. */
  readonly formula?: string
}

export interface NotWritten {
  readonly kind: 'not-written'
  readonly code: ReasonCode
  readonly reason: string
  readonly formula?: string
}

export type PlannedValue<V> = Value<V> | NotWritten

export const value = <V>(v: V, code: ReasonCode, reason: string, formula?: string): Value<V> => ({
  kind: 'value',
  value: v,
  code,
  reason,
  ...(formula === undefined ? {} : { formula }),
})

export const notWritten = (code: ReasonCode, reason: string, formula?: string): NotWritten => ({
  kind: 'not-written',
  code,
  reason,
  ...(formula === undefined ? {} : { formula }),
})

export const plannedValue = <V>(outcome: PlannedValue<V>): V | undefined =>
  outcome.kind === 'value' ? outcome.value : undefined

/** One line for a person: `255012864 (floor(...) = 255012864)`, or `not written: the pod is Guaranteed`. */
export function formatPlannedValue(outcome: PlannedValue<bigint | string>): string {
  if (outcome.kind === 'not-written') {
    const because = outcome.formula === undefined ? '' : ` (${outcome.formula})`
    return `not written: ${outcome.reason}${because}`
  }
  return `${outcome.value} (${outcome.formula ?? outcome.reason})`
}
