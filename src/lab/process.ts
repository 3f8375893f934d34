// Runs other programs for the lab: each in a separate process group, so that the whole group can be killed.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keelsonError, messageOf } from '../core/errors.js'
import { parsePidStat } from '../core/kernel-text/pid-stat.js'

interface Finished {
  readonly code: number
  /** The last part of what the program printed. */
  readonly output: string
}

const keep = 64 * 1024

/** Runs a program to its end; its output is bounded, its group is killed when the signal fires. */
export async function runProgram(
  argv: readonly string[],
  options: {
    readonly signal?: AbortSignal
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly cwd?: string
    readonly input?: string
    readonly onOutput?: (text: string) => void
  } = {},
): Promise<Finished> {
  options.signal?.throwIfAborted()
  const child = startProgram(argv, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  let output = ''
  const take = (data: Buffer): void => {
    output = (output + data.toString('utf8')).slice(-keep)
    options.onOutput?.(data.toString('utf8'))
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  const stop = (): void => killGroup(child)
  options.signal?.addEventListener('abort', stop, { once: true })
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    options.signal?.throwIfAborted()
    return { code: code ?? 128, output: signal === null ? output : `${output}\nkilled by ${signal}` }
  } catch (e) {
    options.signal?.throwIfAborted()
    throw keelsonError('lab.program', `run ${argv[0]}: ${messageOf(e)}`, { argv }, e)
  } finally {
    options.signal?.removeEventListener('abort', stop)
  }
}

/** Like runProgram, but anything else than status 0 is an error that shows the end of the output. */
export async function mustRun(
  argv: readonly string[],
  options: Parameters<typeof runProgram>[1] = {},
): Promise<string> {
  const { code, output } = await runProgram(argv, options)
  if (code !== 0)
    throw keelsonError(
      'lab.program',
      `${argv.join(' ')} exited with status ${code}:\n${lastLines(output, 15)}`,
      {
        argv,
        code,
      },
    )
  return output
}

export const lastLines = (text: string, n: number): string => text.trimEnd().split('\n').slice(-n).join('\n')

const systemPaths = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** PATH with the system's directories at its end: a user's PATH often lacks the ones for root's tools. */
export const searchPath = (path = process.env.PATH ?? ''): string[] => [
  ...new Set([...path.split(delimiter).filter((d) => d !== ''), ...systemPaths]),
]

export function startProgram(argv: readonly string[], options: SpawnOptions): ChildProcess {
  const [command, ...args] = argv
  if (command === undefined) throw new Error('a program needs a name')
  const env = options.env ?? process.env
  const PATH = searchPath(env.PATH).join(delimiter)
  return spawn(command, args, { ...options, env: { ...env, PATH }, detached: true })
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // No process of that group is left.
  }
}

/** Members that still run; a dead one that its new parent has not collected yet is none. */
function groupAlive(group: number): boolean {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = parsePidStat(readFileSync(`/proc/${name}/stat`, 'latin1'))
      if (stat?.group === group && stat.state !== 'Z' && stat.state !== 'X') return true
    } catch {
      // It ended while we looked.
    }
  }
  return false
}

/** Kills the group and waits until none of it is left, or the time is up. */
export async function endGroup(child: ChildProcess, timeoutMs = 4000): Promise<boolean> {
  if (child.pid === undefined) return true
  const until = performance.now() + timeoutMs
  while (groupAlive(child.pid)) {
    killGroup(child)
    if (performance.now() > until) return false
    await sleep(20)
  }
  return true
}
