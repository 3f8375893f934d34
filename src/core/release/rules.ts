// What a feature's stage means in numbers and words: KEP-4033's fallback, metric label and Event, KEP-2570's
// formula, factor and policies. Looked up in feature-gate-table.ts; the gate's state itself is feature-gates.ts.

import type { GateStage } from './gate-history.js'
import {
  fallbackRemovedIn,
  losingSupportLabels,
  type MemoryQosRow,
  memoryQosTable,
  type Profile,
} from './gate-table.js'
import type { SelectableStage } from './gates.js'
import type { KubernetesVersion } from './version.js'

export interface ReleaseRules {
  readonly version: KubernetesVersion
  readonly profile: Profile
}

export interface CgroupDriverRules {
  /** Undefined: the release does not know the feature. */
  readonly stage: GateStage | undefined
  /** What a runtime without RuntimeConfig means: use the configured driver, or refuse to start. */
  readonly fallback: 'allowed' | 'removed'
  /** Label of kubelet_cri_losing_support in a fallback; undefined: the metric does not exist. */
  readonly losingSupportLabel: string | undefined
  /** A fallback is also an Event on the Node. */
  readonly event: boolean
}

/** `chosen` is the stage that the configuration picked by hand, if any. */
export function cgroupDriverRules(
  { version, profile }: ReleaseRules,
  stage: GateStage | undefined,
  chosen?: SelectableStage,
): CgroupDriverRules {
  const removed =
    chosen === undefined ? version.minor >= fallbackRemovedIn[profile] : chosen === 'fallbackRemoved'
  const fallback = removed ? 'removed' : 'allowed'
  return {
    stage,
    fallback,
    losingSupportLabel: stage === 'ga' && !removed ? losingSupportLabel(version, profile) : undefined,
    event: (stage === 'beta' || stage === 'ga') && !removed,
  }
}

function losingSupportLabel(version: KubernetesVersion, profile: Profile): string {
  const { newest, patches } = losingSupportLabels[profile]
  const { minor, patch } = version
  if (patch === undefined) return newest
  return patches.find((p) => p.minor === minor && p.from <= patch && patch <= p.to)?.label ?? newest
}

/** Versions before the feature share the oldest row, so that a stage chosen by hand still has its numbers. */
export function memoryQosRules({ version, profile }: ReleaseRules): MemoryQosRow {
  const rows = memoryQosTable[profile]
  const found = rows.findLast((row) => row.from <= version.minor) ?? rows[0]
  if (found === undefined) throw new Error(`no Memory QoS row for profile ${profile}`)
  return found
}
