// What volumes need of the machine: files that change all at once, groups and modes, mounts, and places inside a volume that
// cannot be led out of it. Containers may change what is inside at any moment.

export interface ProjectedFile {
  /** Relative, without `..`, checked before. */
  readonly path: string
  readonly data: Uint8Array
  /** Exact: the umask of the process does not matter. */
  readonly mode: number
  /** uid; undefined: root. */
  readonly owner: number | undefined
}

export interface GroupOptions {
  readonly gid: number
  /** The group may only read. */
  readonly readOnly: boolean
  /** Nothing is done when the top of the volume has group and mode already. */
  readonly onlyOnRootMismatch?: boolean
}

export interface SubPathRequest {
  readonly volumePath: string
  /** Relative, without `..`. Made as a directory with the mode of the volume where it is missing. */
  readonly subPath: string
  /** Where it is mounted; made by this call. */
  readonly target: string
}

export interface VolumeHost {
  /**
   * Readers see all old files or all new ones. Nothing is written when the content is the same. True: it was written.
   * Errors: file.write-failed; the old content stays.
   */
  writeFiles(
    directory: string,
    files: readonly ProjectedFile[],
    group: GroupOptions | undefined,
  ): Promise<boolean>
  /** Everything below, without following links or going into other mounts. */
  setGroup(directory: string, options: GroupOptions): Promise<void>
  /** False: something is mounted there already, and stays. */
  mountTmpfs(path: string, sizeBytes: bigint | undefined): Promise<boolean>
  mountHugePages(path: string, pageSize: bigint): Promise<boolean>
  /** A directory as another; nothing happens when something is mounted there already. */
  bind(source: string, target: string): Promise<void>
  /** Directories inside a volume; a link that leads out of it is an error. */
  makeInside(volumePath: string, relative: string, mode: number): Promise<void>
  /** Mounts a part of a volume at the target, whatever others do to the volume meanwhile. */
  prepareSubPath(request: SubPathRequest): Promise<void>
}
