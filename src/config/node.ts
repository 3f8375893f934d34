// A configuration document as a tree in which every value knows its origin, and RFC 7386 merging of such trees.
// Nulls are kept while layers are composed: a later "take it away" must survive until defaults are filled in.

import { defaultOrigin, type FieldPath, type Origin } from './origin.js'

export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

export type ConfigNode = LeafNode | ObjectNode

/** A scalar, a null or a whole list: the smallest thing that a layer can replace. */
interface LeafNode {
  readonly kind: 'leaf'
  readonly origin: Origin
  readonly value: Json
}

export interface ObjectNode {
  readonly kind: 'object'
  readonly origin: Origin
  readonly fields: ReadonlyMap<string, ConfigNode>
}

export const leaf = (value: Json, origin: Origin): LeafNode => ({ kind: 'leaf', origin, value })

export const objectNode = (fields: ReadonlyMap<string, ConfigNode>, origin: Origin): ObjectNode => ({
  kind: 'object',
  origin,
  fields,
})

export const emptyTree: ObjectNode = objectNode(new Map(), defaultOrigin)

/** `patch` on top of `base`, nulls kept. Applying layers one by one or as one composed patch gives the same. */
export function composePatch(base: ConfigNode | undefined, patch: ConfigNode): ConfigNode {
  if (patch.kind === 'leaf' || base?.kind !== 'object') return patch
  const fields = new Map(base.fields)
  for (const [key, value] of patch.fields) fields.set(key, composePatch(fields.get(key), value))
  return objectNode(fields, patch.origin)
}

/** RFC 7386 on plain trees: what a null names goes away, lists and scalars are replaced, objects are merged. */
export function applyPatch(target: ConfigNode | undefined, patch: ConfigNode): ConfigNode {
  if (patch.kind === 'leaf') return patch
  const fields = new Map(target?.kind === 'object' ? target.fields : [])
  for (const [key, value] of patch.fields) {
    if (isNull(value)) fields.delete(key)
    else fields.set(key, applyPatch(fields.get(key), value))
  }
  return objectNode(fields, patch.origin)
}

export const isNull = (node: ConfigNode): boolean => node.kind === 'leaf' && node.value === null

export function nodeAt(node: ConfigNode | undefined, path: FieldPath): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>(
    (at, key) => (at?.kind === 'object' ? at.fields.get(key) : undefined),
    node,
  )
}

/** Puts `value` at `path` whole, without merging into what is there. */
export function replaceAt(node: ObjectNode, path: FieldPath, value: ConfigNode): ObjectNode {
  const [key, ...rest] = path
  if (key === undefined) throw new Error('replaceAt needs a path')
  const child = node.fields.get(key)
  const inner =
    rest.length === 0
      ? value
      : replaceAt(child?.kind === 'object' ? child : objectNode(new Map(), value.origin), rest, value)
  return objectNode(new Map(node.fields).set(key, inner), node.origin)
}

/** Own keys only, whatever they are called: `__proto__` in a file is a key like any other. */
export function jsonObject(entries: Iterable<readonly [string, Json]>): { readonly [key: string]: Json } {
  const plain: Record<string, Json> = Object.create(null)
  for (const [key, value] of entries) plain[key] = value
  return plain
}

export function toJson(node: ConfigNode): Json {
  if (node.kind === 'leaf') return node.value
  return jsonObject([...node.fields].map(([key, value]) => [key, toJson(value)] as const))
}

export function fromJson(value: Json, origin: Origin): ConfigNode {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return leaf(value, origin)
  const fields = Object.entries(value).map(([key, v]): [string, ConfigNode] => [key, fromJson(v, origin)])
  return objectNode(new Map(fields), origin)
}
