// The front of a run: starts the supervisor, forwards its output and its outcome, and stops it on request.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { type ErrorCode, type ErrorDetails, keelsonError } from '../core/errors.js'
import { cacheDirectory } from './cache.js'
import type { LabOutcome, LabRequest } from './machine.js'
import { agentCommand } from './self.js'
import type { WindowSize } from './window.js'

type LabOptions = Pick<LabRequest, 'argv'> & Partial<LabRequest>

interface LabStreams {
  /** 'inherit' hands our own descriptors on, which a console needs. */
  readonly stdout: 'inherit' | NodeJS.WritableStream
  readonly stderr: 'inherit' | NodeJS.WritableStream
  /** Forwarded to the console of an interactive machine. Returns the unsubscribe function. */
  readonly onResize?: (listener: (size: WindowSize) => void) => () => void
}

export const labDefaults = { memoryMiB: 2048, cpus: 2, timeoutS: 300 } as const

/** Fills in what was not asked for. */
export const labRequest = (options: LabOptions): LabRequest => ({
  machine: 'uml',
  cwd: process.cwd(),
  env: {},
  ...labDefaults,
  disks: [],
  containerd: undefined,
  out: undefined,
  cacheDir: cacheDirectory(process.env),
  interactive: false,
  ...options,
})

type Answer =
  | LabOutcome
  | {
      readonly kind: 'error'
      readonly code: ErrorCode
      readonly message: string
      readonly details: ErrorDetails
    }

/** Boots a machine, runs the command in it, and resolves when nothing of the run is left on this machine. */
export async function runLab(
  request: LabRequest,
  streams: LabStreams,
  signal?: AbortSignal,
): Promise<LabOutcome> {
  if (signal?.aborted) return { kind: 'stopped' }
  const [command, ...args] = await agentCommand()
  if (command === undefined) throw new Error('the agent has no command')
  const child = spawn(command, [...args, 'supervise'], {
    detached: true,
    stdio: [
      request.interactive ? 'inherit' : 'ignore',
      streams.stdout === 'inherit' ? 'inherit' : 'pipe',
      streams.stderr === 'inherit' ? 'inherit' : 'pipe',
      'pipe',
    ],
  })
  const channel = child.stdio[3] as Duplex
  channel.on('error', () => {})
  channel.write(`${JSON.stringify(request)}\n`)
  const stopResize = streams.onResize?.((size) => channel.write(`${JSON.stringify(size)}\n`))
  if (streams.stdout !== 'inherit') child.stdout?.pipe(streams.stdout, { end: false })
  if (streams.stderr !== 'inherit') child.stderr?.pipe(streams.stderr, { end: false })
  const stop = (): void => void child.kill('SIGTERM')
  signal?.addEventListener('abort', stop, { once: true })
  let text = ''
  channel.on('data', (data: Buffer) => {
    text += data.toString()
  })
  try {
    await once(child, 'close')
  } finally {
    signal?.removeEventListener('abort', stop)
    stopResize?.()
  }
  const answer = (text === '' ? { kind: 'lost' } : JSON.parse(text)) as Answer | { kind: 'lost' }
  if (answer.kind === 'lost')
    throw keelsonError('lab.boot', 'the lab supervisor exited without a result; was it killed?')
  if (answer.kind === 'error') throw keelsonError(answer.code, answer.message, answer.details)
  return answer
}

/** The shell's convention: 124 for a timeout, 130 for an interrupted run. */
export const exitCodeOf = (outcome: LabOutcome): number => {
  switch (outcome.kind) {
    case 'exit':
      return outcome.code
    case 'timeout':
      return 124
    case 'stopped':
      return 130
  }
}
