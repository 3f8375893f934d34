// What Keelson asks about the machine as a whole, apart from its kernel files.

export interface Host {
  readonly os: 'linux' | 'windows'
  /** Whether systemd is the first process here, by its own sign: the directory /run/systemd/system. */
  hasSystemd(): boolean
  hostname(): string
  /** Of this process. */
  readonly pid: number
  /** Of this process, -1000 to 1000; throws where it is not allowed to. */
  setOomScoreAdj(value: number): void
}

export interface ProgramRun {
  /** The file itself; nothing is searched for in PATH. */
  readonly path: string
  readonly args: readonly string[]
  /** Besides the environment of this process. */
  readonly env: Readonly<Record<string, string>>
  readonly input: string
  readonly timeoutMs: number
  /** More output than this ends the program. */
  readonly maxOutputBytes: number
}

/** Other programs of the node that are run for one answer. */
export interface Programs {
  /** What it wrote to standard output. Errors: program.failed, without the output, which may hold credentials. */
  run(program: ProgramRun, signal: AbortSignal): Promise<string>
  /** Whether the file is there and may be run. */
  isRunnable(path: string): Promise<boolean>
}
