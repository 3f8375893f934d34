// The layers of KubeletConfiguration in their order: file, drop-ins, flags. Nulls are kept until withoutNulls.

import type { KubernetesVersion } from '../core/release/version.js'
import { readDocument } from './document.js'
import { orderDropIns, whyNoDropIns } from './drop-ins.js'
import type { FlagSetting } from './flags.js'
import { kubeletApiVersion, kubeletKind, kubeletSchema } from './kubelet-schema.js'
import {
  applyPatch,
  type ConfigNode,
  composePatch,
  emptyTree,
  fromJson,
  isNull,
  nodeAt,
  type ObjectNode,
  replaceAt,
} from './node.js'
import type { Findings, Origin } from './origin.js'
import type { NamedBytes } from './read-text.js'

interface Files {
  readonly kubelet?: NamedBytes | undefined
  readonly dropIns?: readonly NamedBytes[] | undefined
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
}

export function mergeFiles(
  { kubelet, dropIns, flags, env = {} }: Files,
  version: KubernetesVersion,
  findings: Findings,
): ObjectNode {
  const expected = { apiVersion: kubeletApiVersion, kind: kubeletKind } as const
  const base =
    kubelet === undefined ? undefined : readDocument(kubelet, { ...expected, from: 'file' }, findings)
  const whyNot = dropIns === undefined ? undefined : whyNoDropIns(version.minor, env)
  if (whyNot !== undefined) {
    // With a command line the flag itself is refused, once.
    if (version.minor >= 28 || flags === undefined) {
      const origin: Origin = { from: 'flag', flag: '--config-dir' }
      findings.problems.push({
        code: 'usage.invalid',
        path: '',
        message: whyNot,
        remedy: 'set it or remove the flag',
        origin,
      })
    }
    return base ?? emptyTree
  }
  return orderDropIns(dropIns ?? []).reduce<ObjectNode>((tree, file) => {
    const patch = readDocument(file, { ...expected, from: 'drop-in' }, findings)
    const next = patch === undefined ? tree : composePatch(tree, patch)
    return next.kind === 'object' ? next : tree
  }, base ?? emptyTree)
}

/** Gates of files survive gates of the command line; every other map flag replaces the whole map. */
export const withFlags = (tree: ObjectNode, settings: readonly FlagSetting[]): ObjectNode =>
  settings.reduce((layered, { field, value, origin }) => {
    const node = fromJson(value, origin)
    const merges = field[0] === 'featureGates'
    return replaceAt(layered, field, merges ? composePatch(nodeAt(layered, field), node) : node)
  }, tree)

/** Nulls take settings away, except where a null is itself a setting. */
export function withoutNulls(tree: ObjectNode): ConfigNode {
  const stripped = applyPatch(undefined, tree)
  if (stripped.kind !== 'object') return stripped
  return Object.entries(kubeletSchema).reduce<ObjectNode>((node, [name, entry]) => {
    const kept = tree.fields.get(name)
    const isSetting = entry.type === 'field' && entry.nullIsValue && kept !== undefined && isNull(kept)
    return isSetting ? replaceAt(node, [name], kept) : node
  }, stripped)
}
