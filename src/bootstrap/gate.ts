// The gate NodeLocalCRISocket: what naming it means to each command. Its stages are rows of the core's table.
import { keelsonError } from '../core/errors.js'
import { stepOf } from '../core/release/gate-history.js'
import type { Profile } from '../core/release/gate-table.js'
import { type Warning, warning } from './warnings.js'

export const gateName = 'NodeLocalCRISocket'

/** `unknown`: the release is older than the gate. */
type GateStage = 'unknown' | 'alpha' | 'beta' | 'ga' | 'deprecated' | 'removed'

export interface GateDecision {
  readonly on: boolean
  readonly stage: GateStage
  readonly warnings: readonly Warning[]
}

function stageOf(minor: number, profile: Profile): { readonly stage: GateStage; readonly on: boolean } {
  return stepOf(gateName, 'kubeadm', profile, minor) ?? { stage: 'unknown', on: false }
}

/** init: the user's own word, so a word that cannot be kept is an error. */
export function decideInitGate(minor: number, profile: Profile, named: boolean | undefined): GateDecision {
  const { stage, on } = stageOf(minor, profile)
  if (named === undefined) return { on, stage, warnings: [] }
  if (stage === 'unknown' || stage === 'removed')
    throw keelsonError(
      'config.invalid',
      `featureGates: ${gateName} is not a valid feature name in 1.${minor}; remove it`,
      {
        gate: gateName,
      },
    )
  if (stage === 'ga' && !named)
    throw keelsonError(
      'config.invalid',
      `featureGates: ${gateName} is locked to true in 1.${minor}; remove it`,
      {
        gate: gateName,
      },
    )
  return { on: named, stage, warnings: [] }
}

/** join and upgrade: the word of the cluster's ConfigMap, which this command cannot refuse. */
export function decideClusterGate(
  minor: number,
  profile: Profile,
  named: boolean | undefined,
  command: 'join' | 'upgrade',
): GateDecision {
  const { stage, on } = stageOf(minor, profile)
  switch (stage) {
    case 'unknown':
      return { on, stage, warnings: [] }
    case 'alpha':
    case 'beta':
    case 'deprecated':
      return { on: named ?? on, stage, warnings: [] }
    case 'ga':
      return { on, stage, warnings: named === false ? [lockedIgnored] : [] }
    case 'removed':
      return { on, stage, warnings: named !== undefined && command === 'upgrade' ? [unknownGate] : [] }
  }
}

const lockedIgnored = warning(
  'locked-gate-ignored',
  `the cluster says ${gateName}=false, but the gate is locked to true since 1.36: it is treated as on; remove it from kube-system/kubeadm-config`,
)
const unknownGate = warning(
  'unknown-feature-gate',
  `kube-system/kubeadm-config still names ${gateName}, which no longer exists; remove it`,
)

/** `NodeLocalCRISocket=true,Other=false` -> a map. */
export function parseFeatureGates(text: string): Record<string, boolean> {
  const gates: Record<string, boolean> = {}
  for (const pair of text.split(',').map((p) => p.trim())) {
    if (pair === '') continue
    const [name = '', value = '', ...rest] = pair.split('=').map((p) => p.trim())
    const truth = /^(true|t|1)$/i.test(value) ? true : /^(false|f|0)$/i.test(value) ? false : undefined
    if (name === '' || truth === undefined || rest.length > 0)
      throw keelsonError('usage.invalid', `--feature-gates ${pair}: use NAME=true or NAME=false`, {
        pair,
      })
    gates[name] = truth
  }
  return gates
}
