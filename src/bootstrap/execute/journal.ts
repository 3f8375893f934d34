// The journal: a change written down in full before its first step, so that the next command
// after a power cut can complete or revert it. It exists only while a change is in progress.
import { keelsonError } from '../../core/errors.js'
import type { FileOwner, NodeFiles } from '../../ports/bootstrap.js'
import { directoryMode, journalPath, stateDirectory } from '../paths.js'
import type { ClusterChange, ServerChange } from '../plan.js'
import { decodeText, encodeText, isMap } from '../yaml-text.js'

export interface FileChange {
  readonly path: string
  /** Undefined: the file did not exist, or shall not exist. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** The bytes are where a link leads. */
  readonly link?: true
  /** Of the file that was there, which its replacement and its return keep; undefined: the usual ones. */
  readonly mode?: number
  readonly owner?: FileOwner
}

/** A change of the cluster with its undo step. */
export interface ClusterStep {
  readonly change: ClusterChange
  readonly before: ClusterChange | { readonly kind: 'delete-config-map'; readonly name: string }
}

export interface Journal {
  readonly command: string
  readonly started: string
  /** `back` once a step has failed and the change is being undone. */
  readonly direction: 'forward' | 'back'
  readonly files: readonly FileChange[]
  readonly cluster: readonly ClusterStep[]
  readonly emptyDirectories: readonly string[]
  readonly removeFiles: readonly string[]
  readonly server?: ServerChange
  /** Directories that are unused after the change, innermost first; removed if empty. */
  readonly removeDirectories?: readonly string[]
}

const journalMode = 0o600
const temporary = `${journalPath}.new`

const encode = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''))
const decode = (text: unknown): Uint8Array | undefined =>
  typeof text === 'string' ? Uint8Array.from(atob(text), (c) => c.charCodeAt(0)) : undefined

export async function writeJournal(files: NodeFiles, journal: Journal): Promise<void> {
  const text = JSON.stringify({
    version: 1,
    ...journal,
    files: journal.files.map((f) => ({ ...f, before: encode(f.before), after: encode(f.after) })),
  })
  await files.makeDirectory(stateDirectory, directoryMode)
  await files.write(temporary, encodeText(text), journalMode)
  await files.rename(temporary, journalPath)
}

export async function removeJournal(files: NodeFiles): Promise<void> {
  await files.remove(temporary)
  await files.remove(journalPath)
}

/** Undefined: nothing is under way. */
export async function readJournal(files: NodeFiles): Promise<Journal | undefined> {
  const bytes = await files.read(journalPath)
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(decodeText(bytes, journalPath))
    if (!isMap(value) || value.version !== 1 || !Array.isArray(value.files)) throw new Error('unknown shape')
    const journal = value as unknown as Omit<Journal, 'files'>
    const list: readonly unknown[] = value.files
    return {
      ...journal,
      files: list.filter(isMap).map((f) => ({
        ...(f as unknown as FileChange),
        path: String(f.path),
        before: decode(f.before),
        after: decode(f.after),
      })),
    }
  } catch (e) {
    throw keelsonError(
      'node.journal',
      `read ${journalPath}: not a journal of this version; check the files in /var/lib/kubelet, then remove it`,
      { path: journalPath },
      e,
    )
  }
}
