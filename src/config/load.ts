// The road from files and flags to the effective configuration: parse, merge, flags, defaults, validate, freeze.
// Pure: the caller has read the bytes. Problems are returned, all of them; requireConfig throws them.

import { type ErrorCode, type KeelsonError, keelsonError } from '../core/errors.js'
import { effectiveMemoryQos } from '../core/memory-qos/config.js'
import { gateStage, resolveGates } from '../core/release/gates.js'
import { cgroupDriverRules, memoryQosRules, type ReleaseRules } from '../core/release/rules.js'
import { defaultVersion } from '../core/release/version.js'
import type { Problem } from '../core/units/problem.js'
import { type Decoded, decode } from './decode.js'
import type { EffectiveConfig } from './effective.js'
import { parseBool, readProcessFlags } from './flag-words.js'
import { parseKubeletFlags } from './flags.js'
import { deepFreeze } from './freeze.js'
import { kubeletSchema } from './kubelet-schema.js'
import { mergeFiles, withFlags, withoutNulls } from './layers.js'
import { type ConfigNode, nodeAt } from './node.js'
import {
  type ConfigProblem,
  type ConfigWarning,
  defaultOrigin,
  formatFinding,
  noFindings,
  type Origin,
} from './origin.js'
import type { NamedBytes } from './read-text.js'
import { loadKeelson, readVersion } from './release.js'
import { memoryQosInputs, validate } from './validate.js'

export interface ConfigInput {
  readonly kubelet?: NamedBytes | undefined
  /** Every file of the --config-dir tree, in any order; undefined: no such directory was named. */
  readonly dropIns?: readonly NamedBytes[] | undefined
  readonly keelson?: NamedBytes | undefined
  /** The kubelet's command line, without the program's name. */
  readonly flags?: readonly string[]
  /** For commands that are not the kubelet: they have these two flags and none of the others. */
  readonly overrides?: {
    readonly kubernetesVersion?: string | undefined
    readonly profile?: string | undefined
  }
  readonly strict?: boolean
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface LoadedConfig {
  /** Deeply frozen. */
  readonly config: EffectiveConfig
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigWarning[]
  /** By path of KubeletConfiguration: `authentication.webhook.enabled`, `evictionHard["memory.available"]`. */
  readonly origins: Readonly<Record<string, Origin>>
  /** Of KeelsonConfiguration's fields. */
  readonly keelsonOrigins: Readonly<Record<string, Origin>>
}

export function loadConfig(input: ConfigInput): LoadedConfig {
  const findings = noFindings()
  const boot = readProcessFlags(input.flags ?? [])
  const wantsStrict = input.strict === true || parseBool(boot.strict ?? 'false') === true
  const keelson = loadKeelson(input, wantsStrict, findings)
  const { profile, stages, removedFlagPolicy } = keelson.value
  const strict = wantsStrict || keelson.value.strict
  const release: ReleaseRules = { version: readVersion(keelson, findings), profile }

  const driverStage = gateStage('KubeletCgroupDriverFromCRI', { ...release, stages })
  const driverRules = cgroupDriverRules(release, driverStage, stages.KubeletCgroupDriverFromCRI)

  const merged = mergeFiles(input, release.version, findings)
  const flags = parseKubeletFlags(input.flags ?? [], {
    version: release.version,
    cgroupDriverRemoved: driverRules.fallback === 'removed',
    removedFlagPolicy,
  })
  findings.problems.push(...flags.problems)
  findings.warnings.push(...flags.warnings)
  const layered = withFlags(merged, flags.settings)
  const kubelet = decode(kubeletSchema, withoutNulls(layered), {
    rules: release,
    strict,
    findings,
  })
  const origins = kubelet.origins
  const originOf = (path: string): Origin => origins.get(path) ?? origins.get(stem(path)) ?? defaultOrigin

  const gates = resolveGates({ ...release, stages, given: kubelet.value.featureGates })
  for (const { gate, in: place, message, remedy } of gates.problems) {
    const path = place === 'stages' ? 'stages' : 'featureGates'
    const origin =
      place === 'stages' ? (keelson.origins.get('stages') ?? defaultOrigin) : gateOrigin(layered, gate)
    findings.problems.push({ code: 'config.invalid', path, message, remedy, origin })
  }
  for (const { gate, message, remedy } of gates.warnings) {
    const origin = gateOrigin(layered, gate)
    findings.warnings.push({ id: 'feature-gate', path: 'featureGates', message, remedy, origin })
  }

  const settled = settle(kubelet, originOf)
  const row = memoryQosRules(release)
  const enabled = gates.gates.MemoryQoS?.enabled ?? false
  const config: EffectiveConfig = {
    ...release,
    stages,
    strict,
    kubelet: settled,
    keelson: keelson.value,
    gates: gates.gates,
    memoryQos: { enabled, generation: row.generation, factor: undefined, policy: row.policy, rules: row },
    cgroupDriver: { rules: driverRules, configured: settled.cgroupDriver, origin: originOf('cgroupDriver') },
    process: boot,
    document: kubelet.document,
  }
  findings.problems.push(...validate(config).map((p) => withOrigin(p, originOf)))
  const { factor, policy, warnings } = effectiveMemoryQos(settled, memoryQosInputs(config))
  for (const w of warnings) findings.warnings.push({ ...w, id: 'deprecated-value', origin: originOf(w.path) })
  return {
    config: deepFreeze({ ...config, memoryQos: { ...config.memoryQos, factor, policy } }),
    problems: findings.problems,
    warnings: findings.warnings,
    origins: Object.fromEntries(origins),
    keelsonOrigins: Object.fromEntries(keelson.origins),
  }
}

const withOrigin = (p: Problem, originOf: (path: string) => Origin): ConfigProblem => ({
  ...p,
  code: 'config.invalid',
  origin: originOf(p.path),
})

/** `enforceNodeAllocatable[1]` -> `enforceNodeAllocatable`: a list has one origin. */
const stem = (path: string): string => path.replace(/\[.*$/, '')

const gateOrigin = (tree: ConfigNode, gate: string): Origin =>
  (nodeAt(tree, ['featureGates', gate]) ?? nodeAt(tree, ['featureGates']))?.origin ?? defaultOrigin

/** Defaults that depend on another field. */
function settle(
  { value }: Decoded<typeof kubeletSchema>,
  originOf: (path: string) => Origin,
): EffectiveConfig['kubelet'] {
  const parallel = (value.maxParallelImagePulls ?? 1) > 1
  const isDefault = originOf('serializeImagePulls').from === 'default'
  const standard = kubeletSchema.evictionHard.default?.({ version: defaultVersion, profile: 'kep' })
  const thresholds = value.mergeDefaultEvictionSettings
    ? kubeletSchema.evictionHard.read(standard ?? {})
    : undefined
  const isDefaultReport = originOf('nodeStatusReportFrequency').from === 'default'
  const isDefaultUpdate = originOf('nodeStatusUpdateFrequency').from === 'default'
  return {
    ...value,
    nodeStatusReportFrequency:
      isDefaultReport && !isDefaultUpdate ? value.nodeStatusUpdateFrequency : value.nodeStatusReportFrequency,
    serializeImagePulls: isDefault ? !parallel : value.serializeImagePulls,
    evictionHard:
      thresholds?.ok === true ? { ...thresholds.value, ...value.evictionHard } : value.evictionHard,
  }
}

/** For callers that cannot go on: throws one error that lists every problem. */
export function requireConfig(input: ConfigInput): LoadedConfig {
  const loaded = loadConfig(input)
  if (loaded.problems.length > 0) throw configError(loaded.problems)
  return loaded
}

/** Has the code of the problems if they agree on one. */
export function configError(problems: readonly ConfigProblem[]): KeelsonError {
  const codes = new Set<ErrorCode>(problems.map((p) => p.code))
  const [code = 'config.invalid'] = codes.size === 1 ? codes : []
  const lines = problems.map(formatFinding)
  const message = lines.length === 1 ? (lines[0] ?? '') : `${lines.length} problems:\n  ${lines.join('\n  ')}`
  return keelsonError(code, `load configuration: ${message}`, { problems })
}
