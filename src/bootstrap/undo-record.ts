// The undo records of use-socket and `cri install`: what each file and the annotation were before, newest change last.
import { keelsonError } from '../core/errors.js'
import type { FileOwner, NodePorts } from '../ports/bootstrap.js'
import { readNow } from './execute/replace.js'
import { undoPath } from './paths.js'
import type { FileWrite } from './plan.js'
import { isMap } from './yaml-text.js'

export interface UndoneFile {
  readonly path: string
  /** Null: the file did not exist. */
  readonly before: string | null
  /** Null: the file does not exist since. */
  readonly after: string | null
  /** Texts are where a link leads. */
  readonly link?: true
  /** Of the file that was there. */
  readonly mode?: number
  readonly owner?: FileOwner
}

/** The CRI server that was put in front of the runtime. */
export interface InstalledServer {
  readonly unit: string
  readonly listen: string
  readonly upstream: string
  /** What the kubelet used before. */
  readonly previous: string
  readonly wasActive: boolean
}

export interface UndoEntry {
  readonly endpoint: string
  readonly when: string
  readonly files: readonly UndoneFile[]
  /** What the Node's annotation was, where it was changed. */
  readonly annotation?: { readonly node: string; readonly before: string; readonly after: string }
  readonly server?: InstalledServer
  /** Directories that were made for it, innermost first. */
  readonly directories?: readonly string[]
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
  throw keelsonError(
    'node.file-invalid',
    `read ${undoPath}: not a record of this version; remove it to continue without rollback`,
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

export async function readUndoRecord(
  ports: NodePorts,
): Promise<{ readonly entries: readonly UndoEntry[]; readonly text: string | null }> {
  const text = await textNow(ports, { path: undoPath })
  return { entries: parseUndoRecord(text ?? undefined), text }
}

/** To the byte: a mark at the start of a text belongs to it. */
const exact = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Null: not there. */
export async function textNow(
  { files }: NodePorts,
  what: Pick<FileWrite, 'path' | 'link'>,
): Promise<string | null> {
  const bytes = await readNow(files, what)
  if (bytes === undefined) return null
  try {
    return exact.decode(bytes)
  } catch (e) {
    throw keelsonError('input.not-text', `read ${what.path}: it is not UTF-8 text`, { path: what.path }, e)
  }
}

/** What these writes will change, with everything that is needed to revert it. */
export async function undoneFiles(writes: readonly FileWrite[], ports: NodePorts): Promise<UndoneFile[]> {
  const changed: UndoneFile[] = []
  for (const write of writes) {
    const { path, text, link } = write
    const before = await textNow(ports, write)
    const after = text ?? null
    if (after === before) continue
    const found = link === true || before === null ? undefined : await ports.files.stat(path)
    changed.push({
      path,
      before,
      after,
      ...(link === true ? { link } : {}),
      ...(found === undefined ? {} : { mode: found.mode, owner: found.owner }),
    })
  }
  return changed
}

export const restore = ({ path, before, link, mode, owner }: UndoneFile): FileWrite => ({
  path,
  text: before ?? undefined,
  ...(link === true ? { link } : {}),
  ...(mode === undefined ? {} : { mode }),
  ...(owner === undefined ? {} : { owner }),
})

export const isAsLeft = async (file: UndoneFile, ports: NodePorts): Promise<boolean> =>
  (await textNow(ports, file)) === file.after

/** Directories on the way to these files that are not there yet, innermost first. */
export async function missingDirectories(paths: readonly string[], ports: NodePorts): Promise<string[]> {
  const missing = new Set<string>()
  for (const path of paths)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const directory = path.slice(0, at)
      if ((await ports.files.stat(directory)) !== undefined) break
      missing.add(directory)
    }
  return [...missing].sort((a, b) => b.length - a.length)
}
