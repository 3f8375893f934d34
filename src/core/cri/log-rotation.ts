// Rotation of a container's log as upstream does it: which file becomes which, what is compressed and what goes. The
// current file is `0.log`, rotated ones `0.log.20260102-030405`, all but the newest of them with `.gz`.
import { formatTime } from '../units/rfc3339.js'

export interface LogRotationPolicy {
  /** containerLogMaxSize in bytes. */
  readonly maxSize: bigint
  /** containerLogMaxFiles, the current file included. */
  readonly maxFiles: number
}

export interface LogFile {
  readonly name: string
  readonly size: number
  readonly isFile: boolean
}

export type LogRotation =
  | { readonly kind: 'none' }
  /** The container runs and its file is not there: the runtime has to open it again. */
  | { readonly kind: 'missing' }
  /** Something else is in its place, which a container must have put there. */
  | { readonly kind: 'replaced' }
  | {
      readonly kind: 'rotate'
      readonly remove: readonly string[]
      readonly compress: readonly string[]
      readonly to: string
    }

const compressed = '.gz'
const unfinished = '.tmp'

export const compressedName = (name: string): string => `${name}${compressed}`
export const unfinishedName = (name: string): string => `${name}${unfinished}`

/** What follows the name of the log: `.20260102-030405`, with `.gz` or `.tmp` or neither. */
const rotatedPart = /^\.\d{8}-\d{6}(?:\.gz|\.tmp)?$/

/** The log itself, or a file that rotation made of it. */
export const isFileOfLog = (log: string, name: string): boolean =>
  name === log || (name.startsWith(log) && rotatedPart.test(name.slice(log.length)))

export function planLogRotation(
  log: string,
  files: readonly LogFile[],
  policy: LogRotationPolicy,
  nowNanos: bigint,
): LogRotation {
  const current = files.find((f) => f.name === log)
  if (current === undefined) return { kind: 'missing' }
  if (!current.isFile) return { kind: 'replaced' }
  if (BigInt(current.size) < policy.maxSize) return { kind: 'none' }
  const names = new Set(files.map((f) => f.name))
  const rotated = files.filter((f) => f.isFile && f.name !== log && isFileOfLog(log, f.name))
  // An unfinished compression left its file behind; a finished one may have left the plain file.
  const isLeftover = (name: string): boolean => name.endsWith(unfinished) || names.has(compressedName(name))
  const kept = rotated.map((f) => f.name).filter((name) => !isLeftover(name))
  // By time, since it is in the name. Two places are for the current file and for what it becomes.
  const excess = kept.toSorted().slice(0, Math.max(0, kept.length - (policy.maxFiles - 2)))
  return {
    kind: 'rotate',
    remove: [...rotated.map((f) => f.name).filter(isLeftover), ...excess],
    compress: kept.filter((name) => !excess.includes(name) && !name.endsWith(compressed)).toSorted(),
    to: freeName(log, names, nowNanos),
  }
}

/** Never a name that is taken: a clock that was set back must not cost a file. */
function freeName(log: string, names: ReadonlySet<string>, nowNanos: bigint): string {
  for (let at = nowNanos; ; at += 1_000_000_000n) {
    const name = `${log}.${timeOfName(at)}`
    if (!names.has(name) && !names.has(compressedName(name))) return name
  }
}

/** `20260102-030405`, in UTC: local time goes back once a year. */
const timeOfName = (nanos: bigint): string => formatTime(nanos).replaceAll(/[-:Z]/g, '').replace('T', '-')
