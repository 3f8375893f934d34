// Runs another program for one answer: bounded in time and output, never through a shell.
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { keelsonError } from '../../core/errors.js'
import type { ProgramRun, Programs } from '../../ports/host.js'

const run = (program: ProgramRun, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const { path, args, env, input, timeoutMs, maxOutputBytes } = program
    const child = execFile(
      path,
      [...args],
      {
        env: { ...process.env, ...env },
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: maxOutputBytes,
        signal,
        encoding: 'utf8',
      },
      (error, stdout) => {
        if (error === null) resolve(stdout)
        else if (signal.aborted) reject(signal.reason)
        else
          reject(
            keelsonError('program.failed', `run ${path}: ${reasonOf(error, timeoutMs)}`, { program: path }),
          )
      },
    )
    // A program that does not read its input closes the pipe; what counts is what it answers.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })

/** Never error.message: it repeats the command line and what the program wrote. */
function reasonOf(error: Error & { code?: unknown; killed?: boolean }, timeoutMs: number): string {
  if (error.code === 'ENOENT') return 'there is no such program'
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'it wrote too much'
  if (typeof error.code === 'number') return `it ended with status ${error.code}; run it by hand to see why`
  return error.killed === true
    ? `it did not answer in ${timeoutMs / 1000} s`
    : `it could not be run (${String(error.code)})`
}

export const createPrograms = (): Programs => ({
  run,
  isRunnable: (path) =>
    access(path, constants.X_OK).then(
      () => true,
      () => false,
    ),
})
