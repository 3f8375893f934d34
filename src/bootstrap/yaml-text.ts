// YAML as Kubernetes reads and writes it: version 1.1 words for true and false, no dates, sorted keys.
import { stringify } from 'yaml'
import { type Json, toJson } from '../config/node.js'
import { defaultOrigin } from '../config/origin.js'
import { commandLimits, parseYamlDocuments as parseConfigDocuments } from '../config/parse-yaml.js'
import { keelsonError } from '../core/errors.js'

export type YamlMap = Record<string, unknown>

/** Larger than any configuration of a node; a bound for what a parser has to hold. */
const longestText = 1024 * 1024

export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (e) {
    throw keelsonError('input.not-text', `read ${what}: it is not UTF-8 text`, { what }, e)
  }
}

export const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Every document that holds something; comments alone and empty documents are left out. */
export function parseYamlDocuments(text: string, what: string): unknown[] {
  if (text.length > longestText)
    throw keelsonError('input.too-large', `read ${what}: larger than ${longestText} characters`, { what })
  return parseConfigDocuments(text, what, () => defaultOrigin, commandLimits)
    .map(toJson)
    .filter((value) => value !== null)
    .map(toMutable)
}

/** Objects of the parser have no prototype and are read-only to types; patches work on plain ones. */
function toMutable(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(toMutable)
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toMutable(v)]))
}

export const isMap = (value: unknown): value is YamlMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One mapping; undefined when the text holds nothing. */
export function parseYamlMap(text: string, what: string): YamlMap | undefined {
  const documents = parseYamlDocuments(text, what)
  if (documents.length === 0) return undefined
  const [only] = documents
  if (documents.length > 1 || !isMap(only))
    throw keelsonError('yaml.invalid', `read ${what}: expected one mapping of keys to values`, { what })
  return only
}

export const formatYaml = (value: YamlMap): string =>
  stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0 })

/** Same content without regard to key order. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => isSameValue(v, b[i]))
    )
  if (!isMap(a) || !isMap(b)) return Object.is(a, b)
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && isSameValue(a[k], b[k]))
  )
}
