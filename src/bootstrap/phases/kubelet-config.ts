// upgrade apply and upgrade node, phase kubelet-config: move the socket into the instance file where the release
// says so, put the flag back where the gate went off, and write config.yaml again.
import { keelsonError } from '../../core/errors.js'
import type { PhaseContext } from '../context.js'
import { configEndpointOf, flagsTextOf, instanceOf } from '../facts.js'
import { endpointOfInstance, formatInstanceConfig, parseInstanceConfig } from '../instance-config.js'
import { endpointOfConfig, planKubeletConfig } from '../kubelet-config.js'
import {
  endpointFlag,
  endpointOfFlags,
  parseKubeletFlags,
  requireKubeletFlags,
  rewriteKubeletFlags,
  withoutEndpoint,
} from '../kubelet-flags.js'
import { instanceConfigPath, kubeletConfigPath, kubeletFlagsPath } from '../paths.js'
import type { FileWrite, PlanPart } from '../plan.js'
import { type Warning, warning } from '../warnings.js'
import type { YamlMap } from '../yaml-text.js'
import { staleFlag } from './kubelet-start.js'
import type { Phase } from './phase.js'
import { removedAnnotation } from './upload-config.js'

interface Migration {
  readonly instance: YamlMap | undefined
  readonly writes: readonly FileWrite[]
  readonly warnings: readonly Warning[]
  readonly notices: readonly string[]
}

function planUpgradeKubeletConfig(ctx: PhaseContext): PlanPart {
  if (ctx.facts.config === undefined)
    throw keelsonError(
      'node.file-missing',
      `backing up ${kubeletConfigPath}: no such file; was this node ever joined?`,
      {
        path: kubeletConfigPath,
      },
    )
  const migration = ctx.gate.on ? planGateOn(ctx) : planGateOff(ctx)
  const config = planKubeletConfig({
    base: ctx.base(),
    instance: migration.instance,
    patches: ctx.request.patches.patches,
    profile: ctx.request.profile,
  })
  return {
    backUp: [kubeletConfigPath],
    writes: [...migration.writes, { path: kubeletConfigPath, text: config }],
    cluster: ctx.gate.on ? removedAnnotation(ctx) : [],
    warnings: migration.warnings,
    notices: [...ctx.request.patches.notices, ...migration.notices],
  }
}

/** An existing instance file is never changed, even if it contradicts flag or annotation. */
function planGateOn(ctx: PhaseContext): Migration {
  const existing = instanceOf(ctx.facts)
  const text = flagsTextOf(ctx.facts)
  const left = text === undefined ? undefined : endpointOfFlags(parseKubeletFlags(text))
  const stale = left === undefined ? [] : [staleFlag(left)]
  if (existing !== undefined)
    return {
      instance: existing,
      writes: [],
      warnings: stale,
      notices: unrecorded(existing, ctx.socket.endpoint),
    }
  if (ctx.version.minor <= 36) return migrateFlag(ctx, text)
  const made = instanceWrite(ctx.socket.endpoint)
  const flag =
    left === undefined || left === ctx.socket.endpoint
      ? ''
      : `: the kubelet still uses ${left} of ${kubeletFlagsPath}; if that is right, write it to ${instanceConfigPath} before you remove the flag`
  const created = warning(
    'instance-config-created',
    `${instanceConfigPath} was missing and was created with ${ctx.socket.endpoint}; check that this is the node's runtime${flag}`,
  )
  return {
    instance: parseInstanceConfig(made.text),
    writes: [made],
    warnings: [created, ...stale],
    notices: [],
  }
}

/** The annotation is removed nevertheless, so warn that no record of the socket is left. */
const unrecorded = (instance: YamlMap, endpoint: string): string[] =>
  endpointOfInstance(instance) === undefined
    ? [
        `${instanceConfigPath} has no containerRuntimeEndpoint, and an existing file is never changed: add ${endpoint} yourself`,
      ]
    : []

function migrateFlag({ version, socket }: PhaseContext, text: string | undefined): Migration {
  const parsed = requireKubeletFlags(text)
  const endpoint = endpointOfFlags(parsed)
  const made = instanceWrite(endpoint ?? socket.endpoint)
  const instance = parseInstanceConfig(made.text)
  if (endpoint === undefined) {
    const missing = warning(
      'endpoint-flag-missing',
      `${kubeletFlagsPath} has no --${endpointFlag}, so ${instanceConfigPath} was created with ${socket.endpoint}; check it`,
    )
    return { instance, writes: [made], warnings: [missing], notices: [] }
  }
  // 1.32 leaves the flag where it is, and says nothing about it this time.
  if (version.minor <= 32) return { instance, writes: [made], warnings: [], notices: [] }
  const flags = rewriteKubeletFlags(text ?? '', withoutEndpoint(parsed.flags))
  return {
    instance,
    writes: [made, { path: kubeletFlagsPath, text: flags }],
    warnings: [],
    notices: droppedWords(parsed.dropped),
  }
}

/** Without this a migrated node would start against the kubelet's own default. */
function planGateOff(ctx: PhaseContext): Migration {
  const nothing = { instance: undefined, writes: [], warnings: [], notices: [] }
  const text = flagsTextOf(ctx.facts)
  if (text !== undefined && endpointOfFlags(parseKubeletFlags(text)) !== undefined) return nothing
  const endpoint =
    ctx.facts.instance === undefined ? lostEndpoint(ctx) : endpointOfInstance(instanceOf(ctx.facts))
  if (endpoint === undefined) return nothing
  const parsed = requireKubeletFlags(text)
  const flags = [...withoutEndpoint(parsed.flags), { name: endpointFlag, value: endpoint }]
  return {
    instance: undefined,
    writes: [{ path: kubeletFlagsPath, text: rewriteKubeletFlags(text ?? '', flags) }],
    warnings: [
      warning(
        'endpoint-flag-restored',
        `the gate is off, so --${endpointFlag}=${endpoint} was restored in ${kubeletFlagsPath}: the kubelet keeps its runtime`,
      ),
    ],
    notices: droppedWords(parsed.dropped),
  }
}

/** Only config.yaml names the runtime, and what it is written from now does not. */
function lostEndpoint(ctx: PhaseContext): string | undefined {
  const { profile, patches } = ctx.request
  if (profile !== 'kep') return undefined
  const next = planKubeletConfig({
    base: ctx.base(),
    instance: undefined,
    patches: patches.patches,
    profile,
  })
  return endpointOfConfig(next) === undefined ? configEndpointOf(ctx.facts) : undefined
}

const instanceWrite = (endpoint: string) => ({
  path: instanceConfigPath,
  text: formatInstanceConfig(endpoint),
})

const droppedWords = (words: readonly string[]): string[] =>
  words.length === 0 ? [] : [`${kubeletFlagsPath}: dropped words that are not flags: ${words.join(' ')}`]

export const kubeletConfig: Phase = {
  name: 'kubelet-config',
  help: 'back up config.yaml, move the CRI socket to instance-config.yaml and rewrite config.yaml',
  usesSocket: true,
  plan: planUpgradeKubeletConfig,
}
