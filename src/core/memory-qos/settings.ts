// The settings that Memory QoS values depend on, as plain data: which version has which is decided elsewhere.

export const reservationPolicies = ['None', 'HardReservation', 'TieredReservation'] as const
export type ReservationPolicy = (typeof reservationPolicies)[number]

/** `1.22`: factor times limit. `1.27`: from the request upwards, in whole pages; every later release too. */
export type FormulaGeneration = '1.22' | '1.27'

export interface MemoryQosSettings {
  /** The feature gate MemoryQoS. */
  readonly enabled: boolean
  readonly cgroupVersion: 1 | 2
  readonly generation: FormulaGeneration
  /** memoryThrottlingFactor; undefined: no memory.high anywhere. */
  readonly factor: number | undefined
  /** Releases without the field protect requests whenever the gate is on: HardReservation. */
  readonly policy: ReservationPolicy
}

/** The KEP prints `Disabled` in places where it means None. Undefined: no such policy. */
export function parseReservationPolicy(
  text: string,
): { readonly policy: ReservationPolicy; readonly alias: boolean } | undefined {
  if (text === '') return { policy: 'None', alias: false }
  if (text === 'Disabled') return { policy: 'None', alias: true }
  const policy = reservationPolicies.find((name) => name === text)
  return policy === undefined ? undefined : { policy, alias: false }
}

/** Why no Memory QoS file is written at all, if so. */
export function whyMemoryQosIsOff(
  s: MemoryQosSettings,
): { readonly code: 'gate-off' | 'cgroup-v1'; readonly reason: string } | undefined {
  if (!s.enabled) return { code: 'gate-off', reason: 'the feature gate MemoryQoS is off' }
  if (s.cgroupVersion === 1) return { code: 'cgroup-v1', reason: 'Memory QoS needs cgroup v2' }
  return undefined
}
