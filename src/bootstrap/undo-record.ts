// The way back from use-socket: what each file and the annotation were before, newest change last.
import { fail } from '../core/errors.js'
import { undoPath } from './paths.js'
import { isMap } from './yaml-text.js'

export interface UndoneFile {
  readonly path: string
  /** Null: the file did not exist. */
  readonly before: string | null
  readonly after: string
}

export interface UndoEntry {
  readonly endpoint: string
  readonly when: string
  readonly files: readonly UndoneFile[]
  /** What the Node's annotation was, where it was changed. */
  readonly annotation?: { readonly node: string; readonly before: string; readonly after: string }
}

const mostEntries = 20

export function parseUndoRecord(text: string | undefined): UndoEntry[] {
  if (text === undefined) return []
  try {
    const value: unknown = JSON.parse(text)
    if (isMap(value) && value.version === 1 && Array.isArray(value.entries))
      return value.entries as UndoEntry[]
  } catch {
    // Falls through to the same error as a text of another shape.
  }
  throw fail(
    'node.file-invalid',
    `read ${undoPath}: not a record of this version; remove it to go on without a way back`,
    {
      path: undoPath,
    },
  )
}

/** Undefined: nothing is left to undo, and no file is needed. */
export const formatUndoRecord = (entries: readonly UndoEntry[]): string | undefined =>
  entries.length === 0
    ? undefined
    : `${JSON.stringify({ version: 1, entries: entries.slice(-mostEntries) }, undefined, 2)}\n`
