// What a command may touch of its process, handed in so that tests run commands in memory.

export interface Io {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stdin: NodeJS.ReadableStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** The command's exit status; set by an action that ends in a finding rather than an error. */
  exitCode: number
}

export const processIo = (): Io => ({
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  exitCode: 0,
})
