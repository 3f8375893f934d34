// Which release and profile apply: KeelsonConfiguration with the flags that stand above it. Comes before all else,
// because the release decides which fields, flags and gates of the rest exist.

import { messageOf } from '../core/errors.js'
import type { ReleaseRules } from '../core/release/rules.js'
import { defaultVersion, type KubernetesVersion, parseVersion } from '../core/release/version.js'
import { type Decoded, decode } from './decode.js'
import { readDocument } from './document.js'
import { readProcessFlags } from './flag-words.js'
import { keelsonApiVersion, keelsonKind, keelsonSchema } from './keelson-schema.js'
import { applyPatch, emptyTree, leaf, replaceAt } from './node.js'
import { defaultOrigin, type Findings } from './origin.js'
import type { NamedBytes } from './read-text.js'

interface ReleaseInput {
  readonly keelson?: NamedBytes | undefined
  readonly flags?: readonly string[]
  readonly overrides?: {
    readonly kubernetesVersion?: string | undefined
    readonly profile?: string | undefined
  }
}

export function loadKeelson(
  { keelson, overrides = {}, flags = [] }: ReleaseInput,
  strict: boolean,
  findings: Findings,
): Decoded<typeof keelsonSchema> {
  const boot = readProcessFlags(flags)
  const given = [
    ['kubernetesVersion', '--kubernetes-version', boot['kubernetes-version'] ?? overrides.kubernetesVersion],
    ['profile', '--profile', boot.profile ?? overrides.profile],
  ] as const
  const expected = { apiVersion: keelsonApiVersion, kind: keelsonKind, from: 'file' } as const
  const file = keelson === undefined ? undefined : readDocument(keelson, expected, findings)
  const tree = given.reduce(
    (node, [field, flag, value]) =>
      value === undefined ? node : replaceAt(node, [field], leaf(value, { from: 'flag', flag })),
    file ?? emptyTree,
  )
  const rules: ReleaseRules = { version: defaultVersion, profile: 'kep' }
  return decode(keelsonSchema, applyPatch(undefined, tree), { rules, strict, findings })
}

export function readVersion(keelson: Decoded<typeof keelsonSchema>, findings: Findings): KubernetesVersion {
  const text = keelson.value.kubernetesVersion
  try {
    return parseVersion(text)
  } catch (e) {
    const message = messageOf(e)
    const origin = keelson.origins.get('kubernetesVersion') ?? defaultOrigin
    findings.problems.push({
      code: 'version.unknown',
      path: 'kubernetesVersion',
      message,
      remedy: '',
      origin,
    })
    return defaultVersion
  }
}
