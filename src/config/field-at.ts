// A field of a schema by its path.

import type { Field, Schema } from './field.js'

/** `logging.options.text.splitStream`; undefined where the schema has no such field. */
export function fieldAt(schema: Schema, path: string): Field<unknown> | undefined {
  const [head = '', ...rest] = path.split('.')
  const entry = Object.hasOwn(schema, head) ? schema[head] : undefined
  if (entry?.type === 'group') return fieldAt(entry.fields, rest.join('.'))
  return rest.length === 0 ? entry : undefined
}
