// The end of a container's log file.

export interface LogTail {
  /** At most the last `maxBytes` of the file, from the first whole line on. Undefined: no such file. */
  read(path: string, maxBytes: number): Promise<string | undefined>
}
