// Which feature gates exist in a release, which are on, and what is wrong with the ones that were given.
// Reads the two gate tables; what a stage means beyond on and off is in feature-rules.ts.

import { didYouMean } from '../units/nearest-name.js'
import {
  type GateStage,
  type GateStep,
  historyOf,
  isEffective,
  namesOf,
  rowOf,
  stepOf,
} from './gate-history.js'
import { type GateComponent, type GateName, gateTable, type Profile } from './gate-table.js'
import { formatVersion, type KubernetesVersion, newestMinor } from './version.js'

/** Stages that `stages:` may name. `fallbackRemoved` is KEP-4033's last step, after GA. */
export const selectableStages = ['unknown', 'alpha', 'beta', 'ga', 'fallbackRemoved', 'removed'] as const
export type SelectableStage = (typeof selectableStages)[number]

export interface GateState {
  readonly stage: GateStage
  readonly enabled: boolean
  readonly default: boolean
  readonly locked: boolean
  readonly setBy: 'default' | 'given' | 'AllAlpha' | 'AllBeta'
  /** False: the upstream component knows the name, Keelson has no behaviour for it. */
  readonly effective: boolean
}

interface GateProblem {
  readonly gate: string
  /** Whether `stages` or the given gates are at fault. */
  readonly in: 'stages' | 'given'
  readonly message: string
  readonly remedy: string
}

interface GateRequest {
  readonly version: KubernetesVersion
  readonly profile: Profile
  readonly stages?: Readonly<Record<string, SelectableStage>>
  readonly given?: Readonly<Record<string, unknown>>
  readonly component?: GateComponent
}

interface ResolvedGates {
  readonly gates: Readonly<Record<string, GateState>>
  readonly problems: readonly GateProblem[]
  readonly warnings: readonly GateProblem[]
}

function chosenStep(name: string, stage: SelectableStage): GateStep | undefined {
  switch (stage) {
    case 'unknown':
      return undefined
    case 'alpha':
      return { from: 0, stage, on: false, locked: false }
    case 'beta':
      return { from: 0, stage, on: rowOf(name)?.betaDefault ?? true, locked: false }
    case 'ga':
    case 'fallbackRemoved':
      return { from: 0, stage: 'ga', on: true, locked: true }
    case 'removed':
      return { from: 0, stage, on: true, locked: true }
  }
}

function currentStep(
  name: string,
  { stages = {}, profile, version }: Pick<GateRequest, 'stages' | 'profile' | 'version'>,
  component: GateComponent,
): GateStep | undefined {
  const chosen = Object.hasOwn(stages, name) ? stages[name] : undefined
  return chosen === undefined ? stepOf(name, component, profile, version.minor) : chosenStep(name, chosen)
}

/** Undefined: the release does not know the gate. */
export const gateStage = (name: GateName, request: GateRequest): GateStage | undefined =>
  currentStep(name, request, gateTable[name].component)?.stage

const standings = new Map<string, Readonly<Record<string, GateState>>>()

/** Every gate of the release in its default state. The same few releases are asked for again and again. */
function standing(request: GateRequest, component: GateComponent): Readonly<Record<string, GateState>> {
  const { version, profile, stages = {} } = request
  const plain = Object.keys(stages).length === 0
  const key = `${component} ${profile} ${version.minor}`
  const known = plain ? standings.get(key) : undefined
  if (known !== undefined) return known
  const gates: Record<string, GateState> = {}
  for (const name of namesOf(component)) {
    const step = currentStep(name, request, component)
    if (step === undefined || (step.stage === 'removed' && !isEffective(name, component))) continue
    gates[name] = Object.freeze({
      stage: step.stage,
      enabled: step.on,
      default: step.on,
      locked: step.locked,
      setBy: 'default',
      effective: isEffective(name, component),
    })
  }
  if (plain) standings.set(key, gates)
  return gates
}

/**
 * Every gate that this release knows, as configured. Problems are start errors; the gates keep their defaults.
 * A removed gate of ours stays in the answer with the state it ended in, because its behaviour goes on.
 */
export function resolveGates(request: GateRequest): ResolvedGates {
  const { stages = {}, given = {}, component = 'kubelet' } = request
  const problems: GateProblem[] = stageProblems(stages, component)
  const gates = { ...standing(request, component) }
  const warnings: GateProblem[] = []
  applyGiven({ ...request, component }, given, gates, problems, warnings)
  return { gates, problems, warnings }
}

function stageProblems(
  stages: Readonly<Record<string, SelectableStage>>,
  component: GateComponent,
): GateProblem[] {
  const known = Object.keys(gateTable)
  return Object.entries(stages).flatMap(([gate, stage]): GateProblem[] => {
    if (rowOf(gate) === undefined) {
      const message = `no stages are described for ${gate}${didYouMean(gate, known)}`
      return component === 'kubelet'
        ? [{ gate, in: 'stages', message, remedy: `name one of: ${known.join(', ')}` }]
        : []
    }
    if (stage === 'fallbackRemoved' && gate !== 'KubeletCgroupDriverFromCRI') {
      const message = `${gate} has no stage fallbackRemoved`
      return [{ gate, in: 'stages', message, remedy: 'choose unknown, alpha, beta, ga or removed' }]
    }
    return []
  })
}

const groups: Readonly<Record<string, GateStage>> = { AllAlpha: 'alpha', AllBeta: 'beta' }

function applyGiven(
  request: GateRequest & { component: GateComponent },
  given: Readonly<Record<string, unknown>>,
  gates: Record<string, GateState>,
  problems: GateProblem[],
  warnings: GateProblem[],
): void {
  // A gate named by itself overrides its group, whatever the order in the file.
  const entries = Object.entries(given).sort(([a], [b]) => Number(isGroup(b)) - Number(isGroup(a)))
  for (const [gate, value] of entries) {
    if (typeof value !== 'boolean') {
      problems.push({
        gate,
        in: 'given',
        message: `feature gate ${gate} must be true or false`,
        remedy: `write ${gate}: true or ${gate}: false`,
      })
    } else if (isGroup(gate) && request.component === 'kubelet') {
      setGroup(gate, value, gates)
    } else {
      setOne(request, gate, value, gates, problems, warnings)
    }
  }
}

const isGroup = (name: string): name is 'AllAlpha' | 'AllBeta' => Object.hasOwn(groups, name)

function setGroup(group: 'AllAlpha' | 'AllBeta', value: boolean, gates: Record<string, GateState>): void {
  for (const [name, state] of Object.entries(gates)) {
    if (state.stage === groups[group] && !state.locked)
      gates[name] = { ...state, enabled: value, setBy: group }
  }
}

function setOne(
  request: GateRequest & { component: GateComponent },
  gate: string,
  value: boolean,
  gates: Record<string, GateState>,
  problems: GateProblem[],
  warnings: GateProblem[],
): void {
  const state = Object.hasOwn(gates, gate) ? gates[gate] : undefined
  if (state === undefined || state.stage === 'removed') {
    problems.push({ gate, in: 'given', ...unrecognized(request, gate, Object.keys(gates)) })
    return
  }
  if (state.locked && value !== state.default) {
    problems.push({
      gate,
      in: 'given',
      message: `cannot set feature gate ${gate} to ${value}: it is locked to ${state.default} in Kubernetes ${formatVersion(request.version)}`,
      remedy: `remove ${gate} from the feature gates`,
    })
    return
  }
  gates[gate] = { ...state, enabled: value, setBy: 'given' }
  if (state.stage === 'ga' || state.stage === 'deprecated') {
    warnings.push({
      gate,
      in: 'given',
      message: `feature gate ${gate} is ${state.stage === 'ga' ? 'GA' : 'deprecated'} and its name will be dropped in a later release`,
      remedy: `remove ${gate} from the feature gates`,
    })
  } else if (!state.effective) {
    warnings.push({
      gate,
      in: 'given',
      message: `feature gate ${gate} is accepted without effect`,
      remedy: 'nothing to do; Keelson has no behaviour behind it',
    })
  }
}

function unrecognized(
  request: GateRequest & { component: GateComponent },
  gate: string,
  known: readonly string[],
): { message: string; remedy: string } {
  const asked = formatVersion(request.version)
  const message = `unrecognized feature gate: ${gate}`
  const chosen = request.stages?.[gate]
  const steps = historyOf(gate, request.component, request.profile)
  const first = steps[0]
  const removed = steps.find((s) => s.stage === 'removed' && s.from <= request.version.minor)
  if (chosen !== undefined) {
    return { message: `${message} (stages sets it to ${chosen})`, remedy: 'change stages or remove the gate' }
  }
  if (removed !== undefined) {
    return { message: `${message} (removed in Kubernetes 1.${removed.from})`, remedy: `remove ${gate}` }
  }
  if (first !== undefined && first.from <= newestMinor) {
    return {
      message: `${message} (Kubernetes ${asked} does not have it, it came with 1.${first.from})`,
      remedy: `remove ${gate}, or set kubernetesVersion to 1.${first.from} or later`,
    }
  }
  return {
    message: `${message}${didYouMean(gate, [...known, ...Object.keys(groups)])}`,
    remedy: 'correct the name or remove it',
  }
}

/** False for a gate that the release does not have. */
export const isGateEnabled = (gates: Readonly<Record<string, GateState>>, name: GateName): boolean =>
  gates[name]?.enabled ?? false
