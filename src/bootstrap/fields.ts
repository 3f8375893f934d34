// Reads single fields of a parsed document and says which one is of the wrong kind. Empty text counts as unset,
// as it does for Go's zero values.
import { keelsonError } from '../core/errors.js'
import { isMap, type YamlMap } from './yaml-text.js'

export interface FieldReader {
  raw(key: string): unknown
  text(key: string): string | undefined
  /** Text, or an unquoted number or boolean. */
  word(key: string): string | undefined
  flag(key: string): boolean | undefined
  texts(key: string): readonly string[]
  maps(key: string): readonly FieldReader[]
  child(key: string): FieldReader
  keys(): readonly string[]
  bad(key: string, why: string): Error
}

export function fieldReader(map: YamlMap, what: string, path = ''): FieldReader {
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`)
  const bad = (key: string, why: string): Error =>
    keelsonError('config.invalid', `read ${what}: ${at(key)} ${why}`, { what, path: at(key) })
  const raw = (key: string): unknown => (Object.hasOwn(map, key) ? (map[key] ?? undefined) : undefined)
  const list = (key: string): readonly unknown[] => {
    const value = raw(key) ?? []
    if (!Array.isArray(value)) throw bad(key, 'is not a list')
    return value
  }
  const word = (key: string): string | undefined => {
    const value = raw(key)
    if (value === undefined) return undefined
    if (typeof value === 'object') throw bad(key, 'is not a string')
    return String(value)
  }
  return {
    raw,
    bad,
    word,
    keys: () => Object.keys(map),
    text(key) {
      const value = raw(key)
      if (value !== undefined && typeof value !== 'string') throw bad(key, 'is not a string')
      return value === '' ? undefined : value
    },
    flag(key) {
      const value = raw(key)
      if (value !== undefined && typeof value !== 'boolean') throw bad(key, 'is not a boolean')
      return value
    },
    texts: (key) =>
      list(key).map((v, i) => {
        if (typeof v !== 'string') throw bad(`${key}[${i}]`, 'is not a string')
        return v
      }),
    maps: (key) =>
      list(key).map((v, i) => {
        if (!isMap(v)) throw bad(`${key}[${i}]`, 'is not a mapping')
        return fieldReader(v, what, at(`${key}[${i}]`))
      }),
    child(key) {
      const value = raw(key) ?? {}
      if (!isMap(value)) throw bad(key, 'is not a mapping')
      return fieldReader(value, what, at(key))
    },
  }
}
