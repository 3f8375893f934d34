// Reads untyped objects field by field and collects every problem with its path, instead of stopping at the first.
// A key that is not asked for is a problem too, with the nearest known name.
import { nearestName } from '../../units/nearest-name.js'
import type { Problem } from '../../units/problem.js'

type Fields = Readonly<Record<string, unknown>>

/** Far above any real manifest; keeps one broken document from filling a log. */
const maxProblems = 100
const maxEntries = 1_000

/** Where a pod comes from. A pod of a file may not name objects of an API server. */
export type PodOrigin = 'file' | 'api'

interface TextRule {
  readonly required?: boolean
  /** What the text must look like, and how a person would say it. */
  readonly pattern?: RegExp
  readonly looksLike?: string
  readonly maxLength?: number
}

export class FieldReader {
  private readonly asked = new Set<string>()

  constructor(
    private readonly fields: Fields,
    readonly path: string,
    readonly problems: Problem[],
    readonly origin: PodOrigin = 'file',
  ) {}

  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  problem(key: string, message: string, remedy: string): void {
    if (this.problems.length < maxProblems)
      this.problems.push({ path: key === '' ? this.path : this.at(key), message, remedy })
  }

  /** The value as it is; null counts as not given, as everywhere in Kubernetes. */
  raw(key: string): unknown {
    this.asked.add(key)
    return (Object.hasOwn(this.fields, key) ? this.fields[key] : undefined) ?? undefined
  }

  text(key: string, rule: TextRule = {}): string | undefined {
    const value = this.raw(key)
    if (value === undefined || value === '') {
      if (rule.required === true) this.problem(key, 'is missing', 'give it')
      return undefined
    }
    if (typeof value !== 'string') return this.wrong(key, 'is not a text', 'put the value in quotes')
    if (value.length > (rule.maxLength ?? 65_536))
      return this.wrong(key, `is longer than ${rule.maxLength ?? 65_536} characters`, 'shorten it')
    if (value.includes('\0')) return this.wrong(key, 'holds a NUL character', 'remove it')
    if (rule.pattern !== undefined && !rule.pattern.test(value))
      return this.wrong(
        key,
        `is ${shown(value)}`,
        `write ${rule.looksLike ?? `what matches ${rule.pattern.source}`}`,
      )
    return value
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key)
    if (value === undefined || typeof value === 'boolean') return value
    return this.wrong(key, `is ${shown(value)}`, 'write true or false')
  }

  whole(key: string, { min, max }: { readonly min: number; readonly max: number }): number | undefined {
    const value = this.raw(key)
    if (value === undefined) return undefined
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
      return this.wrong(key, `is ${shown(value)}`, `write a whole number from ${min} to ${max}`)
    return value
  }

  choice<T extends string>(key: string, words: readonly T[]): T | undefined {
    const value = this.raw(key)
    if (value === undefined || value === '') return undefined
    const found = words.find((word) => word === value)
    if (found === undefined) return this.wrong(key, `is ${shown(value)}`, `use one of ${words.join(', ')}`)
    return found
  }

  object(key: string): FieldReader | undefined {
    const value = this.raw(key)
    if (value === undefined) return undefined
    const fields = fieldsOf(value)
    if (fields === undefined) return this.wrong(key, 'is not an object', 'write it as keys and values')
    return new FieldReader(fields, this.at(key), this.problems, this.origin)
  }

  objects(key: string): readonly FieldReader[] {
    return this.list(key).flatMap((value, i) => {
      const fields = fieldsOf(value)
      if (fields !== undefined)
        return [new FieldReader(fields, `${this.at(key)}[${i}]`, this.problems, this.origin)]
      this.problem(`${key}[${i}]`, 'is not an object', 'write it as keys and values')
      return []
    })
  }

  texts(key: string): readonly string[] {
    return this.list(key).flatMap((value, i) => {
      if (typeof value === 'string' && !value.includes('\0')) return [value]
      this.problem(`${key}[${i}]`, `is ${shown(value)}, not a text`, 'put the value in quotes')
      return []
    })
  }

  wholes(key: string, { min, max }: { readonly min: number; readonly max: number }): readonly number[] {
    return this.list(key).flatMap((value, i) => {
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
        return [value]
      this.problem(`${key}[${i}]`, `is ${shown(value)}`, `write a whole number from ${min} to ${max}`)
      return []
    })
  }

  textMap(key: string): ReadonlyMap<string, string> {
    const value = this.raw(key)
    const fields = value === undefined ? {} : fieldsOf(value)
    if (fields === undefined) this.problem(key, 'is not an object', 'write it as keys and values')
    const map = new Map<string, string>()
    for (const [name, entry] of Object.entries(fields ?? {})) {
      if (typeof entry === 'string') map.set(name, entry)
      else if (entry !== null)
        this.problem(
          `${key}[${JSON.stringify(name.slice(0, 80))}]`,
          'is not a text',
          'put the value in quotes',
        )
    }
    return map
  }

  /** Fields that would change behaviour and that are not implemented yet: refused by name, never ignored. */
  refuse(table: Readonly<Record<string, string>>): void {
    for (const [key, why] of Object.entries(table))
      if (!isEmpty(this.raw(key)))
        this.problem(key, `is not supported${this.origin === 'api' ? '' : `: ${why}`}`, 'remove it')
  }

  /** Fields that only a pod of an API server may have. */
  refuseInFile(table: Readonly<Record<string, string>>): void {
    if (this.origin === 'file') this.refuse(table)
  }

  /** Fields that mean nothing on a node without a cluster. */
  ignore(keys: readonly string[]): void {
    for (const key of keys) this.asked.add(key)
  }

  /** To be called last: what was not asked for is unknown. */
  close(): void {
    for (const key of Object.keys(this.fields)) {
      if (this.asked.has(key) || this.fields[key] === null) continue
      const near = nearestName(key, [...this.asked])
      this.problem(
        key.slice(0, 80),
        'is not a field of a Pod here',
        near === undefined ? 'remove it' : `did you mean ${near}?`,
      )
    }
  }

  private list(key: string): readonly unknown[] {
    const value = this.raw(key)
    if (value === undefined) return []
    if (!Array.isArray(value)) return this.wrong(key, 'is not a list', 'write a list') ?? []
    if (value.length > maxEntries)
      return this.wrong(key, `has ${value.length} entries`, `keep it to ${maxEntries}`) ?? []
    return value
  }

  private wrong(key: string, message: string, remedy: string): undefined {
    this.problem(key, message, remedy)
    return undefined
  }
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (fieldsOf(value) !== undefined && Object.keys(value as Fields).length === 0)

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
