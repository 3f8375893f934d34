// YAML as Kubernetes reads and writes it: version 1.1 words for true and false, no dates, sorted keys.
import { type Document, parseAllDocuments, stringify } from 'yaml'
import { fail } from '../core/errors.js'

export type YamlMap = Record<string, unknown>

/** Larger than any configuration of a node; a bound for what a parser has to hold. */
const longestText = 1024 * 1024

// Go's YAML has neither dates, binary, sets nor base-60 numbers; read there as plain text.
const foreignTags = /timestamp|binary|omap|pairs|set$/

export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (e) {
    throw fail('input.not-text', `read ${what}: it is not UTF-8 text`, { what }, e)
  }
}

export const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Every document that holds something; comments alone and empty documents are left out. */
export function parseYamlDocuments(text: string, what: string): unknown[] {
  if (text.length > longestText)
    throw fail('input.too-large', `read ${what}: larger than ${longestText} characters`, { what })
  try {
    const documents = parseAllDocuments(text, {
      version: '1.1',
      intAsBigInt: true,
      logLevel: 'silent',
      customTags: (tags) =>
        tags.filter(
          (t) =>
            typeof t === 'string' || !(foreignTags.test(t.tag) || ('format' in t && t.format === 'TIME')),
        ),
    })
    const list: readonly Document[] = Array.isArray(documents) ? documents : []
    for (const d of list) {
      const error = d.errors[0]
      if (error !== undefined) throw error
    }
    return list
      .map((d) => toPlain(d.toJS({ maxAliasCount: 100 })))
      .filter((v) => v !== null && v !== undefined)
  } catch (e) {
    const why = e instanceof Error ? (e.message.split('\n')[0] ?? '').replace(/:$/, '') : String(e)
    throw fail('yaml.invalid', `read ${what}: ${why}`, { what }, e)
  }
}

export const isMap = (value: unknown): value is YamlMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One mapping; undefined when the text holds nothing. */
export function parseYamlMap(text: string, what: string): YamlMap | undefined {
  const documents = parseYamlDocuments(text, what)
  if (documents.length === 0) return undefined
  const [only] = documents
  if (documents.length > 1 || !isMap(only))
    throw fail('yaml.invalid', `read ${what}: expected one mapping of keys to values`, { what })
  return only
}

export const formatYaml = (value: YamlMap): string =>
  stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0 })

/** Integers arrive exact; those that a double holds exactly become ordinary numbers again. */
function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(toPlain)
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toPlain(v)]))
}

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
