// Child processes for the conformance tier: bounded output, a deadline, and an ending that is waited for.
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const OUTPUT_LIMIT = 4 * 1024 * 1024

export interface CommandOptions {
  readonly timeoutMs: number
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  /** Exit statuses that are an answer and not a failure. */
  readonly accept?: readonly number[]
}

export interface CommandResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export class CommandFailed extends Error {
  constructor(
    message: string,
    readonly result: CommandResult,
  ) {
    super(message)
  }
}

export async function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
  })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  child.stdin.on('error', () => {}) // a child that never reads its input is not a failure
  child.stdin.end(options.input ?? '')
  const [status, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject).once('close', (code, name) => resolve([code, name]))
  })
  const result = { status: status ?? -1, stdout: stdout(), stderr: stderr() }
  if (status !== null && (options.accept ?? [0]).includes(status)) return result
  const ending = signal === null ? `exit status ${status}` : `${signal} (deadline ${options.timeoutMs} ms)`
  const tail = (result.stderr || result.stdout).slice(-4_000)
  throw new CommandFailed(`${file} ${args.join(' ')}: ${ending}\n${tail}`, result)
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < OUTPUT_LIMIT) chunks.push(chunk)
    size += chunk.length
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

export interface Daemon {
  readonly pid: number
  readonly exited: boolean
  readonly logFile: string
  /** SIGTERM, then SIGKILL after the grace; resolves when the process is gone. */
  close(): Promise<void>
}

/**
 * A peer that runs until close(). Its own process group, so that nothing it forked stays behind; setpriv (util-linux)
 * has the kernel end it when this process is killed without a chance to do so itself.
 */
export function startDaemon(
  file: string,
  args: readonly string[],
  {
    logFile,
    env,
    cwd,
  }: { readonly logFile: string; readonly env?: NodeJS.ProcessEnv; readonly cwd?: string },
): Daemon {
  const child: ChildProcess = spawn('setpriv', ['--pdeathsig', 'KILL', '--', file, ...args], {
    cwd,
    env: env ?? process.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(logFile)
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve()).once('close', () => resolve())
  }).then(() => void log.end())
  const pid = child.pid
  if (pid === undefined) throw new Error(`cannot start ${file}`)
  const daemon = {
    pid,
    logFile,
    get exited() {
      return child.exitCode !== null || child.signalCode !== null
    },
    async close() {
      process.removeListener('exit', killGroup)
      if (!daemon.exited) child.kill('SIGTERM')
      const grace = new AbortController()
      await Promise.race([gone, sleep(10_000, undefined, { signal: grace.signal }).catch(() => {})])
      grace.abort()
      killGroup()
      await gone
    },
  }
  const killGroup = () => {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // the group is already gone
    }
  }
  process.once('exit', killGroup)
  return daemon
}

/** Asks until the answer is yes; an ended daemon or the deadline is an error that carries the daemon's last words. */
export async function waitUntil(
  what: string,
  ask: () => Promise<boolean>,
  { timeoutMs, daemon, lastWords }: { timeoutMs: number; daemon?: Daemon; lastWords?: () => Promise<string> },
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    if (await ask().catch(() => false)) return
    const ended = daemon?.exited === true
    if (ended || Date.now() > deadline) {
      const words = (await lastWords?.().catch(() => '')) ?? ''
      throw new Error(
        `${what}: ${ended ? 'the process ended' : `not within ${timeoutMs} ms`}\n${words.slice(-3_000)}`,
      )
    }
    await sleep(200)
  }
}
