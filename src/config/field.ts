// How a schema is written: a field knows its kind, its default by release, and how to read one value; a group
// is a mapping of fields. Types of the effective configuration are inferred from the schema, never repeated.

import type { ReleaseRules } from '../core/release/rules.js'
import { parseGoDuration } from '../core/units/go-duration.js'
import type { Json } from './node.js'

export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string; readonly remedy: string }

export const read = <T>(value: T): Read<T> => ({ ok: true, value })
export const refuse = (message: string, remedy: string): Read<never> => ({ ok: false, message, remedy })

/** A setting that asks for something that does not happen here. */
interface Missing {
  /** What does not happen, for the warning at the start. */
  readonly what: string
  readonly remedy: string
  /** Which values ask for it. Default: all but Go's zero values. */
  readonly asks?: (value: Json) => boolean
}

/** Every setting is exactly one of these. */
export type Effect =
  | { readonly kind: 'honoured' }
  /** Nothing reads it, and nothing is worse for that. */
  | { readonly kind: 'harmless'; readonly why: string }
  | ({ readonly kind: 'missing' } & Missing)

/** Go's zero value asks for nothing: files that kubeadm writes are full of them. */
export function isAsked(value: Json): boolean {
  if (typeof value === 'string') return value !== '' && parseGoDuration(value) !== 0n
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}

export interface Field<T> {
  readonly type: 'field'
  /** In words, for docs: `integer 1..65535`. */
  readonly kind: string
  readonly doc: string
  /** First minor of Kubernetes that has the field; undefined: all that Keelson supports. */
  readonly since: number | undefined
  /** Naming the field in an older release is a start error, not only an unknown key. */
  readonly earlyIsError: boolean
  /** Go's zero value means "not set" for fields that upstream does not keep behind a pointer. */
  readonly zeroIsUnset: boolean
  /** An explicit null is a value here; everywhere else it means "not set". */
  readonly nullIsValue: boolean
  readonly effect: Effect
  readonly default: ((rules: ReleaseRules) => Json | undefined) | undefined
  /** For docs, where the default needs words. */
  readonly defaultText: string | undefined
  readonly read: (value: Json) => Read<T>
}

export interface Group<S extends Schema = Schema> {
  readonly type: 'group'
  readonly doc: string
  readonly since: number | undefined
  readonly fields: S
}

export interface Schema {
  readonly [name: string]: Field<unknown> | Group
}

export type Infer<S extends Schema> = {
  readonly [K in keyof S]: S[K] extends Field<infer T> ? T : S[K] extends Group<infer G> ? Infer<G> : never
}

interface FieldOptions {
  readonly since?: number
  readonly earlyIsError?: boolean
  readonly zeroIsUnset?: boolean
  readonly nullIsValue?: boolean
  readonly defaultText?: string
  /** Read by us, but what people set it for does not happen. */
  readonly missing?: Missing
}

interface FieldOptionsWithDefault extends FieldOptions {
  readonly default: Json | ((rules: ReleaseRules) => Json)
}

/** What the builders of field-kinds.ts share. Without a default the field may be undefined. */
export interface FieldBuilder<T> {
  (doc: string, options: FieldOptionsWithDefault): Field<T>
  (doc: string, options?: FieldOptions): Field<T | undefined>
}

export function fieldOf<T>(kind: string, readValue: (value: Json) => Read<T>): FieldBuilder<T> {
  function build(doc: string, options: FieldOptionsWithDefault): Field<T>
  function build(doc: string, options?: FieldOptions): Field<T | undefined>
  function build(doc: string, options: FieldOptions & { default?: FieldOptionsWithDefault['default'] } = {}) {
    const given = options.default
    return {
      type: 'field' as const,
      kind,
      doc,
      since: options.since,
      earlyIsError: options.earlyIsError ?? false,
      zeroIsUnset: options.zeroIsUnset ?? false,
      nullIsValue: options.nullIsValue ?? false,
      effect:
        options.missing === undefined
          ? { kind: 'honoured' as const }
          : { kind: 'missing' as const, ...options.missing },
      default: given === undefined ? undefined : typeof given === 'function' ? given : () => given,
      defaultText: options.defaultText,
      read: readValue,
    }
  }
  return build
}

export const group = <S extends Schema>(doc: string, fields: S, since?: number): Group<S> => ({
  type: 'group',
  doc,
  since,
  fields,
})

const unread = (effect: Effect, since: number | undefined): Field<Json | undefined> => ({
  ...fieldOf<Json>('any', (value) => read(value))('', since === undefined ? {} : { since }),
  effect,
})

/** A field that upstream knows, that has no behaviour here, and that is not needed. */
export const harmless = (why: string, since?: number): Field<Json | undefined> =>
  unread({ kind: 'harmless', why }, since)

/** A field that upstream knows and that asks for something that does not happen here. */
export const missing = (m: Missing, since?: number): Field<Json | undefined> =>
  unread({ kind: 'missing', ...m }, since)
