// Where a field of a manifest is written: `spec.containers[0].livenessProbe` -> line 12. Asked only for a manifest that was
// parsed and refused, so that a sound one costs nothing.
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml'
import { decodeText, type NamedBytes } from './read-text.js'

const partPattern = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g

/** `spec.containers[0].name` -> spec, containers, 0, name. */
const partsOf = (path: string): readonly (string | number)[] =>
  [...path.matchAll(partPattern)].map(([, quoted, index, name]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? (name ?? '') : quoted.replaceAll(/\\(.)/g, '$1')
  })

export interface FieldPlace {
  /** Line of the document in the file. */
  readonly document: number
  readonly path: string
}

/** The lines of these fields; that of the nearest written ancestor where a field is not written. */
export function fieldLines(file: NamedBytes, fields: readonly FieldPlace[]): readonly number[] {
  const lines = new LineCounter()
  const lineOf = (node: unknown): number | undefined => {
    const { range } = (node ?? {}) as { readonly range?: Node['range'] }
    return range ? lines.linePos(range[0]).line : undefined
  }
  const options = { lineCounter: lines, version: '1.1', uniqueKeys: false, prettyErrors: false } as const
  const documents = parseAllDocuments(decodeText(file, file.bytes.byteLength), options) as readonly Document[]
  const roots = new Map(documents.map(({ contents }) => [lineOf(contents), contents]))
  return fields.map(({ document, path }) => {
    let line = document
    let at: unknown = roots.get(document)
    for (const part of partsOf(path)) {
      const pair = isMap(at) ? at.items.find(({ key }) => isScalar(key) && key.value === part) : undefined
      at = pair?.value ?? (isSeq(at) && typeof part === 'number' ? at.items[part] : undefined)
      const found = lineOf(pair?.key ?? at)
      if (found === undefined) break
      line = found
    }
    return line
  })
}
