// Ordinary files: bounded reads, replacement that is all or nothing, listing and watching directories.

export interface ReplaceOptions {
  /** Permissions of a new file; an existing one keeps its own unless this is given. Default 0o644. */
  readonly mode?: number
  /** Owner; an existing file keeps its own unless this is given. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

export interface FileEntry {
  /** Absolute. */
  readonly path: string
  /** Relative to the listed directory. */
  readonly name: string
  readonly size: bigint
  readonly mtimeNanos: bigint
  readonly inode: bigint
  /** Why nothing is known of it but its name: it is there, and the file system does not say more (EIO, ESTALE). */
  readonly unreadable?: string
  /** While it was watched it was removed and written again since the last listing; a file that replaced it is not that. */
  readonly recreated?: boolean
}

export interface ListOptions {
  /** Descend into sub-directories, entries in lexical order per directory. Default false. */
  readonly recursive?: boolean
  /** Names that end like this, e.g. `.conf`. Default: every regular file. */
  readonly suffix?: string
  /** More entries than this end in input.too-large. Default 10,000. */
  readonly maxEntries?: number
}

export interface WatchOptions {
  /** A full listing as a safety net. Default 20,000 ms. */
  readonly rescanMs?: number
  /** Quiet time after a change before listing. Default 50 ms. */
  readonly settleMs?: number
  readonly signal: AbortSignal
}

export interface Files {
  /** Undefined: no such file. Errors: input.unreadable, input.too-large. */
  read(path: string, maxBytes: number): Promise<Uint8Array | undefined>
  /** Temporary file, fsync, rename, fsync of the directory: a reader sees the old or the new content, never a part. */
  replace(path: string, content: Uint8Array | string, options?: ReplaceOptions): Promise<void>
  /** Not there is not an error. */
  remove(path: string): Promise<void>
  /** Regular files (links followed), and what cannot be looked at. Undefined: no such directory. */
  list(directory: string, options?: ListOptions): Promise<readonly FileEntry[] | undefined>
  /**
   * The listing now, then again after each change; ends when the signal is aborted. A directory that does not exist is an
   * empty listing, and its later creation is a change.
   */
  watch(directory: string, options: WatchOptions & ListOptions): AsyncIterable<readonly FileEntry[]>
}
