// The running `keelson up` of this user: what it writes down of itself, and how other commands find it without flags.
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePidStat } from '../../core/kernel-text/pid-stat.js'
import type { Place } from '../../up/machine.js'

export interface RunningUp {
  readonly pid: number
  /** With the id it names one process until the next boot. */
  readonly startTicks: string
  readonly place: Place
  /** The kubelet's port on 127.0.0.1. */
  readonly port: number
  /** With the token and the certificate of the kubelet. */
  readonly rootDir: string
  readonly logDir: string
  /** The CRI socket; undefined: it is inside the lab machine. */
  readonly runtimeEndpoint?: string
  readonly startedMs: number
  /** Where its output goes; undefined: to a terminal. */
  readonly output?: string
}

const fileName = 'up.json'
const readyName = 'ready'

/** One for each user: another user's node is not ours to use. */
export const upDirectory = (uid = process.getuid?.() ?? 0): string => join(tmpdir(), `keelson-up-${uid}`)

const startTicksOf = (pid: number): string | undefined => {
  try {
    return parsePidStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.startTicks
  } catch {
    return undefined
  }
}

export const writeRunning = (dir: string, running: Omit<RunningUp, 'pid' | 'startTicks'>): Promise<void> =>
  writeFile(
    join(dir, fileName),
    JSON.stringify({ ...running, pid: process.pid, startTicks: startTicksOf(process.pid) ?? '' }),
    { mode: 0o600 },
  )

/** Written beside the token once the pods run, by a process that may be inside the lab machine. */
export const writeReady = (rootDir: string): Promise<void> => writeFile(join(rootDir, readyName), '')

export const isReady = ({ rootDir }: RunningUp): boolean => existsSync(join(rootDir, readyName))

/** Undefined: none runs. A directory of another user, or the file of a process that has ended, is none. */
export function findRunning(dir = upDirectory()): RunningUp | undefined {
  const found = lstatSync(dir, { throwIfNoEntry: false })
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return undefined
  try {
    const running = JSON.parse(readFileSync(join(dir, fileName), 'utf8')) as RunningUp
    return startTicksOf(running.pid) === running.startTicks ? running : undefined
  } catch {
    // Not written yet, or half written by a process that was killed.
    return undefined
  }
}
