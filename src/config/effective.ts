// The one object that the rest of Keelson receives: every setting decided, with the rules of the release beside it.

import type { MemoryQosSettings } from '../core/memory-qos/settings.js'
import type { MemoryQosRow, Profile } from '../core/release/gate-table.js'
import type { GateState, SelectableStage } from '../core/release/gates.js'
import type { CgroupDriverRules } from '../core/release/rules.js'
import type { KubernetesVersion } from '../core/release/version.js'
import type { Quantity } from '../core/units/quantity.js'
import type { ResourceList } from '../core/units/resource-list.js'
import type { ProcessFlags } from './flag-words.js'
import type { KeelsonConfig } from './keelson-schema.js'
import type { KubeletConfig } from './kubelet-schema.js'
import type { Json } from './node.js'
import type { Origin } from './origin.js'

export interface EffectiveConfig {
  readonly version: KubernetesVersion
  readonly profile: Profile
  readonly stages: Readonly<Record<string, SelectableStage>>
  readonly strict: boolean
  readonly kubelet: KubeletConfig
  readonly keelson: KeelsonConfig
  readonly gates: Readonly<Record<string, GateState>>
  /** Without the cgroup version, which comes from the node. */
  readonly memoryQos: Omit<MemoryQosSettings, 'cgroupVersion'> & { readonly rules: MemoryQosRow }
  readonly cgroupDriver: {
    readonly rules: CgroupDriverRules
    /** What applies when the runtime is not asked or does not say; see isCgroupDriver. */
    readonly configured: string
    readonly origin: Origin
  }
  readonly process: ProcessFlags
  /** KubeletConfiguration in its written form, defaults and fields without effect included. */
  readonly document: Json
}

type CgroupDriverName = 'cgroupfs' | 'systemd'

/** Checked only where the word is needed: a runtime that names its driver makes a typo harmless. */
export const isCgroupDriver = (word: string): word is CgroupDriverName =>
  word === 'cgroupfs' || word === 'systemd'

/** kubeReserved and systemReserved in the form that the core calculates with. */
export const resourceListOf = (amounts: Readonly<Record<string, Quantity>>): ResourceList =>
  new Map(Object.entries(amounts))
