// Runs a command in this process with its streams in memory.
import { Readable } from 'node:stream'
import type { Io } from '../../src/cli/io.js'
import { run } from '../../src/cli/program.js'

export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export async function runCommand(argv: readonly string[], stdin: string | Uint8Array = ''): Promise<Ran> {
  let stdout = ''
  let stderr = ''
  const io: Io = {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
    stdin: Readable.from([Buffer.from(stdin)]),
    env: {},
    exitCode: 0,
  }
  const status = await run(argv, io)
  return { status, stdout, stderr }
}
