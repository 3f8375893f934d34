// The settings of a vector (`config`, and what a case says about the node) as the product's own inputs.

import type { CgroupDriver } from '../../../../src/core/cgroup/name.js'
import { type MemoryQosSettings, parseReservationPolicy } from '../../../../src/core/memory-qos/settings.js'
import type { PlannedValue } from '../../../../src/core/plan/planned-value.js'
import { type Bytes, bytes } from '../../../../src/core/units/bytes.js'
import { type Fields, isFields } from '../../types.js'

/** Taken as it is: after defaulting, without validation. */
export function settingsOf(input: Fields): MemoryQosSettings {
  const config = isFields(input['config']) ? input['config'] : {}
  const factor = config['memoryThrottlingFactor']
  const named = config['memoryReservationPolicy'] ?? ''
  const policy = typeof named === 'string' ? parseReservationPolicy(named) : undefined
  if (policy === undefined) throw new Error(`the vector has the policy ${JSON.stringify(named)}`)
  return {
    enabled: config['gate'] === true,
    cgroupVersion: setting(input, 'cgroupVersion') === 1 ? 1 : 2,
    generation: '1.27',
    factor: typeof factor === 'number' ? factor : undefined,
    policy: policy.policy,
  }
}

/** "Unless the case says otherwise": wherever it says so. */
export function setting(input: Fields, key: string): unknown {
  for (const place of [input['config'], input['node'], input]) {
    if (isFields(place) && place[key] !== undefined) return place[key]
  }
  return undefined
}

export function driverOf(input: Fields): CgroupDriver {
  return setting(input, 'cgroupDriver') === 'systemd' ? 'systemd' : 'cgroupfs'
}

export function cgroupRootOf(input: Fields): string {
  const root = setting(input, 'cgroupRoot')
  return typeof root === 'string' && root !== '' ? root : '/'
}

export const bytesOf = (v: unknown): Bytes | undefined =>
  typeof v === 'string' || typeof v === 'number' ? bytes(BigInt(v)) : undefined

/** Null: not written. Numbers of the vectors are plain, byte counts are texts. */
export const asText = (outcome: PlannedValue<bigint | string>): string | null =>
  outcome.kind === 'value' ? String(outcome.value) : null

export const asNumber = (outcome: PlannedValue<bigint>): number | null =>
  outcome.kind === 'value' ? Number(outcome.value) : null
