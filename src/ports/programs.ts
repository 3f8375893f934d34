// Other programs of the node that are run for one answer.

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

export interface Programs {
  /** What it wrote to standard output. Errors: program.failed, without the output, which may hold credentials. */
  run(program: ProgramRun, signal: AbortSignal): Promise<string>
  /** Whether the file is there and may be run. */
  isRunnable(path: string): Promise<boolean>
}
