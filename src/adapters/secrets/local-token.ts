// The local token file: created once with mode 0600, accepted only if no other user can read or write it.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import type { Log } from '../../ports/log.js'
import type { LocalToken } from '../../ports/secrets.js'

const maxBytes = 4096
const tokenPattern = /^[A-Za-z0-9._~+/-]{32,}=*$/

const codeOf = (e: unknown): unknown => (e instanceof Error && 'code' in e ? e.code : undefined)

function ownerProblem(stat: Stats): string | undefined {
  if (!stat.isFile()) return 'it is not a regular file'
  if (stat.uid !== process.getuid?.()) return `it is owned by user ${stat.uid}`
  if ((stat.mode & 0o077) !== 0) return `its mode is ${(stat.mode & 0o777).toString(8)}, not 600`
  return undefined
}

/** The token; undefined: no such file. What the check saw and what is read are one open file. */
export function readLocalToken(path: string): string | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (e) {
    if (codeOf(e) === 'ENOENT') return undefined
    if (codeOf(e) === 'ELOOP')
      throw keelsonError('token.insecure', `read token file ${path}: it is a link`, { path }, e)
    throw keelsonError(
      'input.unreadable',
      `read token file ${path}: ${String(codeOf(e))}; run as root`,
      { path },
      e,
    )
  }
  try {
    const problem = ownerProblem(fstatSync(fd))
    if (problem !== undefined)
      throw keelsonError('token.insecure', `read token file ${path}: ${problem}`, { path })
    const buffer = Buffer.alloc(maxBytes)
    const token = buffer.toString('latin1', 0, readSync(fd, buffer, 0, maxBytes, 0)).trim()
    if (!tokenPattern.test(token))
      throw keelsonError(
        'token.insecure',
        `read token file ${path}: it has no token of at least 32 characters`,
        {
          path,
        },
      )
    return token
  } finally {
    closeSync(fd)
  }
}

/** Makes the file unless it is there; of several processes that try at once, one wins and the others use its token. */
export function ensureLocalToken(path: string): void {
  if (readLocalToken(path) !== undefined) return
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`
  const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    writeSync(fd, `${randomBytes(32).toString('base64url')}\n`)
    fsyncSync(fd)
    linkSync(draft, path)
  } catch (e) {
    if (codeOf(e) !== 'EEXIST')
      throw keelsonError('file.write-failed', `create token file ${path}: ${String(codeOf(e))}`, { path }, e)
  } finally {
    closeSync(fd)
    unlinkSync(draft)
  }
}

/** Looks at the file on each question, reads it when it has changed, and says once when it cannot be believed. */
export function createLocalToken(path: string, log: Log): LocalToken {
  ensureLocalToken(path)
  let seen = ''
  let token: string | undefined
  return {
    current() {
      const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
      const mark = stat === undefined ? '' : `${stat.dev}:${stat.ino}:${stat.ctimeNs}:${stat.size}`
      if (mark === seen && token !== undefined) return token
      const changed = mark !== seen
      seen = mark
      token = undefined
      try {
        token = readLocalToken(path)
      } catch (e) {
        if (!isKeelsonError(e)) throw e
        if (changed) log.error('local token rejected', { error: e })
      }
      return token
    },
  }
}
