// Walks a schema over a merged document: fills in defaults, reads every value, remembers every origin, and reports
// what it cannot use. A value that is refused leaves its default in place, so that all problems come out at once.

import type { ReleaseRules } from '../core/release/rules.js'
import { parseGoDuration } from '../core/units/go-duration.js'
import { didYouMean } from '../core/units/nearest-name.js'
import { type Field, type Group, type Infer, isAsked, type Schema } from './field.js'
import { type ConfigNode, isNull, type Json, jsonObject, objectNode, toJson } from './node.js'
import {
  defaultOrigin,
  type FieldPath,
  type Findings,
  formatPath,
  type Origin,
  type WarningId,
} from './origin.js'
import { describeJson } from './parse-yaml.js'

interface DecodeContext {
  readonly rules: ReleaseRules
  readonly strict: boolean
  readonly findings: Findings
}

export interface Decoded<S extends Schema> {
  readonly value: Infer<S>
  /** The whole document in its written form, defaults included. */
  readonly document: Json
  readonly origins: ReadonlyMap<string, Origin>
}

export function decode<S extends Schema>(
  schema: S,
  node: ConfigNode | undefined,
  context: DecodeContext,
): Decoded<S> {
  const walk = new Walk(context)
  const { value, document } = walk.group(schema, node, [])
  // The walk visits exactly the fields of the schema, each read by its own reader.
  return { value: value as Infer<S>, document: document ?? null, origins: walk.origins }
}

interface Pair {
  readonly value: unknown
  /** Undefined: not set and without a default. */
  readonly document: Json | undefined
}

class Walk {
  readonly origins = new Map<string, Origin>()

  constructor(private readonly context: DecodeContext) {}

  group(schema: Schema, node: ConfigNode | undefined, at: FieldPath): Pair {
    if (node !== undefined && node.kind !== 'object' && !isNull(node)) {
      this.refuse(
        at,
        node.origin,
        `must be a mapping, not ${describeJson(node.value)}`,
        'write one key: value per line',
      )
    }
    const given = node?.kind === 'object' ? node : objectNode(new Map(), defaultOrigin)
    const value: Record<string, unknown> = {}
    const document = new Map<string, Json>()
    this.reportUnknown(schema, given.fields, at)
    for (const [name, entry] of Object.entries(schema)) {
      const path = [...at, name]
      const child = this.inThisRelease(entry, given.fields.get(name), path)
      const pair =
        entry.type === 'group' ? this.group(entry.fields, child, path) : this.field(entry, child, path)
      value[name] = pair.value
      if (pair.document !== undefined) document.set(name, pair.document)
    }
    return { value, document: jsonObject(document) }
  }

  private field(field: Field<unknown>, node: ConfigNode | undefined, path: FieldPath): Pair {
    if (node !== undefined && isSet(field, node)) {
      const written = toJson(node)
      const result = field.read(written)
      if (result.ok) {
        this.remember(path, node)
        this.reportEffect(field, written, path, node.origin)
        return { value: result.value, document: written }
      }
      this.refuse(path, node.origin, result.message, result.remedy)
    }
    const standard = field.default?.(this.context.rules)
    if (field.effect.kind === 'harmless') return { value: undefined, document: undefined }
    this.origins.set(formatPath(path), node !== undefined && isNull(node) ? node.origin : defaultOrigin)
    if (standard === undefined) return { value: undefined, document: undefined }
    const result = field.read(standard)
    if (!result.ok) throw new Error(`default of ${formatPath(path)}: ${result.message}`)
    this.origins.set(formatPath(path), defaultOrigin)
    return { value: result.value, document: standard }
  }

  /** A field of a later release is an unknown key. A flag has its own table of releases, so it passes. */
  private inThisRelease(
    entry: Field<unknown> | Group,
    node: ConfigNode | undefined,
    path: FieldPath,
  ): ConfigNode | undefined {
    const { minor } = this.context.rules.version
    if (node === undefined || entry.since === undefined || entry.since <= minor) return node
    if (node.origin.from === 'flag' || isNull(node)) return node
    const message = `is unknown in Kubernetes 1.${minor}; it was added in 1.${entry.since}`
    const remedy = `remove it, or set kubernetesVersion to 1.${entry.since} or later`
    if (entry.type === 'field' && entry.earlyIsError) this.refuse(path, node.origin, message, remedy)
    else this.unknown(path, node.origin, message, remedy)
    return undefined
  }

  private reportUnknown(schema: Schema, fields: ReadonlyMap<string, ConfigNode>, at: FieldPath): void {
    for (const [key, node] of fields) {
      if (Object.hasOwn(schema, key)) continue
      if (at.length === 0 && (key === 'apiVersion' || key === 'kind')) continue
      const why = `unknown key${didYouMean(key, Object.keys(schema))}`
      this.unknown([...at, key], node.origin, why, 'fix the name or remove it')
    }
  }

  /** Entries of a map may come from different layers, so each has its own origin. */
  private remember(path: FieldPath, node: ConfigNode): void {
    this.origins.set(formatPath(path), node.origin)
    if (node.kind !== 'object') return
    for (const [key, child] of node.fields) this.remember([...path, key], child)
  }

  private reportEffect({ effect }: Field<unknown>, written: Json, path: FieldPath, origin: Origin): void {
    const say = (id: WarningId, message: string, remedy: string): void => {
      this.context.findings.warnings.push({ id, path: formatPath(path), message, remedy, origin })
    }
    if (effect.kind === 'harmless' && isAsked(written))
      say('without-effect', `has no effect: ${effect.why}`, '')
    if (effect.kind === 'missing' && (effect.asks ?? isAsked)(written))
      say('not-honoured', `is not supported: ${effect.what}`, effect.remedy)
  }

  private unknown(path: FieldPath, origin: Origin, message: string, remedy: string): void {
    if (this.context.strict) this.refuse(path, origin, message, remedy)
    else
      this.context.findings.warnings.push({
        id: 'unknown-key',
        path: formatPath(path),
        message,
        remedy,
        origin,
      })
  }

  private refuse(path: FieldPath, origin: Origin, message: string, remedy: string): void {
    this.context.findings.problems.push({
      code: 'config.invalid',
      path: formatPath(path),
      message,
      remedy,
      origin,
    })
  }
}

function isSet(field: Field<unknown>, node: ConfigNode): boolean {
  if (isNull(node)) return field.nullIsValue
  if (node.kind === 'object' || !field.zeroIsUnset) return true
  const { value } = node
  if (field.kind === 'duration') return !(typeof value === 'string' && parseGoDuration(value) === 0n)
  return value !== '' && value !== 0
}
