// What running pods needs of the machine besides cgroups and the runtime: directories, volumes, links, log files.

export type PathKind = 'file' | 'directory' | 'socket' | 'char-device' | 'block-device' | 'other'

export interface DirectoryOptions {
  readonly mode: number
  /** Also sets the set-group-id bit, so that what is made inside belongs to the group. */
  readonly gid?: number
}

export interface FilePiece {
  readonly bytes: Uint8Array
  /** Of the whole file at that moment. */
  readonly size: number
}

/** A log file that stays open: it can be read to its end after it was renamed or removed. */
export interface OpenLog {
  /** Distinguishes a rotated file from the one before. */
  readonly inode: bigint
  /** At most `length` bytes from `offset`. */
  read(offset: number, length: number): Promise<FilePiece>
  close(): Promise<void>
}

export interface LogFileEntry {
  readonly name: string
  readonly size: number
  /** False: a link, a FIFO or anything else that is no log. */
  readonly isFile: boolean
}

export interface PodHost {
  /** Hexadecimal, at least 32 digits; the same text has the same digest for ever. */
  digest(text: string): string
  /** Addresses of this machine, loopback and link-local left out, IPv4 first. */
  addresses(): readonly string[]
  /** Parents included. An existing directory keeps what is in it. */
  ensureDirectory(path: string, options: DirectoryOptions): Promise<void>
  /** An existing file is left as it is. */
  ensureFile(path: string, mode: number): Promise<void>
  /** Written in place: a file that is mounted into a container must stay the same file. */
  writeFile(path: string, text: string, mode: number): Promise<void>
  /** Links followed. Undefined: nothing there. */
  kindOf(path: string): Promise<PathKind | undefined>
  /** Names in a directory; undefined: no such directory. */
  list(path: string): Promise<readonly string[] | undefined>
  /** A symbolic link that leads to `target`; one that is there is replaced. */
  link(target: string, path: string): Promise<void>
  /** Where a link leads; undefined: no link. */
  linkTarget(path: string): Promise<string | undefined>
  remove(path: string): Promise<void>
  /** Unmounts what is mounted below, then removes everything; links are removed and never followed. */
  removeTree(path: string): Promise<void>
  /** The path without links, as the kernel names mounts; a part that does not exist yet is kept as it is. */
  resolve(path: string): Promise<string>
  /**
   * At most `length` bytes from `offset`; undefined: no such file. Containers can replace these files: no link is
   * followed, and what is not a regular file is an error. The same holds for logs below.
   */
  readAt(path: string, offset: number, length: number): Promise<FilePiece | undefined>
  /**
   * The whole of a small file below `root`, at most `limit` bytes; undefined: no such file. No part of `path` may be a link,
   * because containers write there; a link, a larger file and what is not a regular file are errors.
   */
  readBelow(root: string, path: string, limit: number): Promise<Uint8Array | undefined>
  /** Undefined: no such file. */
  openLog(path: string): Promise<OpenLog | undefined>
  /** Of a regular file; undefined: there is none. For a first look only: directories on the way may be links. */
  logSize(path: string): Promise<number | undefined>
  /** Everything in the directory of a container's logs; undefined: no such directory. */
  listLogs(directory: string): Promise<readonly LogFileEntry[] | undefined>
  /** Within the directory; never replaces a file. */
  moveLog(directory: string, from: string, to: string): Promise<void>
  /** Nothing happens when it is not there. */
  removeLog(directory: string, name: string): Promise<void>
  /** `NAME` becomes `NAME.gz`. */
  compressLog(directory: string, name: string): Promise<void>
}
