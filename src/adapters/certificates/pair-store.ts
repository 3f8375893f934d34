// Pairs of certificate and key in files that the upstream kubelet reads too: each pair in a dated file, and a link to the
// newest. The link is turned in one step, after the pair is on disk: a crash or a full disk leaves the old pair current.
import { createPrivateKey } from 'node:crypto'
import { lstat, mkdir, open, readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { keelsonError } from '../../core/errors.js'
import type { PairStore, StoredPair } from '../../ports/certificates.js'
import { isMissing, readBounded } from '../files/read.js'
import { replaceFile } from '../files/replace.js'
import { describeCertificate } from './describe.js'
import { newKey } from './keys.js'

const maxBytes = 1024 * 1024
/** Older pairs that are kept for people who look for what went wrong. */
const keptPairs = 5

const keyBlock = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----/
const certificateBlocks = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function parsePair(text: string): StoredPair | undefined {
  const key = keyBlock.exec(text)?.[0]
  const certificate = (text.match(certificateBlocks) ?? []).join('\n')
  if (key === undefined || certificate === '') return undefined
  const facts = describeCertificate(certificate, key)
  return facts === undefined ? undefined : { certificate: `${certificate}\n`, key: `${key}\n`, facts }
}

/** `2026-11-15-08-39-38`, in the machine's own time as upstream does. */
function formatStamp(now: Date): string {
  const two = (n: number): string => String(n).padStart(2, '0')
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`
  return `${date}-${two(now.getHours())}-${two(now.getMinutes())}-${two(now.getSeconds())}`
}

const failed = (what: string, path: string, cause: unknown, advice: string) =>
  keelsonError(
    'file.write-failed',
    `write ${what} ${path}: ${cause instanceof Error ? cause.message : String(cause)}; ${advice}`,
    { path },
    cause,
  )

export function createPairStore(
  directory: string,
  prefix: string,
  now: () => Date = () => new Date(),
): PairStore {
  const currentPath = join(directory, `${prefix}-current.pem`)
  const updatedPath = join(directory, `${prefix}-updated.pem`)
  const pendingPath = join(directory, `${prefix}.key.tmp`)
  const ready = async (): Promise<void> => {
    await mkdir(directory, { recursive: true, mode: 0o755 })
  }
  const readPair = async (path: string): Promise<StoredPair | undefined> => {
    const bytes = await readBounded(path, maxBytes)
    return bytes === undefined ? undefined : parsePair(Buffer.from(bytes).toString('utf8'))
  }
  /** A crash between the two steps of turning the link leaves only the first. */
  const recover = async (): Promise<void> => {
    const current = await lstat(currentPath).catch(missing)
    if (current !== undefined || (await lstat(updatedPath).catch(missing))?.isSymbolicLink() !== true) return
    await rename(updatedPath, currentPath)
  }
  const turnLink = async (file: string): Promise<void> => {
    for (const path of [currentPath, updatedPath]) {
      const found = await lstat(path).catch(missing)
      if (found !== undefined && !found.isSymbolicLink())
        throw new Error(`${path} is a file, not a link; move it away`)
    }
    await rm(updatedPath, { force: true })
    await symlink(file, updatedPath)
    await rename(updatedPath, currentPath)
    const handle = await open(directory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  /** By name, so by their time; the pair in use stays also when its time is an earlier one, after the clock was set back. */
  const removeOld = async (inUse: string): Promise<void> => {
    const dated = new RegExp(`^${prefix}-\\d{4}(-\\d{2}){5}\\.pem$`)
    const old = (await readdir(directory))
      .filter((name) => dated.test(name) && join(directory, name) !== inUse)
      .sort()
      .slice(0, 1 - keptPairs)
    for (const name of old) await rm(join(directory, name), { force: true })
  }
  return {
    currentPath,
    async current() {
      await recover().catch(() => undefined)
      return readPair(currentPath)
    },
    async write(certificate, key) {
      const text = `${certificate.trim()}\n${key.trim()}\n`
      const pair = parsePair(text)
      if (pair === undefined)
        throw keelsonError('tls.invalid', 'use the certificate of the cluster: it is not for our key')
      const file = join(directory, `${prefix}-${formatStamp(now())}.pem`)
      try {
        await ready()
        await replaceFile(file, text, { mode: 0o600 })
        await turnLink(file)
        await removeOld(file)
      } catch (e) {
        throw failed('the certificate', file, e, 'what was in use before stays so')
      }
      return pair
    },
    async pendingKey() {
      const bytes = await readBounded(pendingPath, maxBytes)
      const kept = bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')
      if (kept !== undefined && isKey(kept)) return kept
      const key = newKey()
      try {
        await ready()
        await replaceFile(pendingPath, key, { mode: 0o600 })
      } catch (e) {
        throw failed('the key', pendingPath, e, 'make room and start again; nothing was asked for yet')
      }
      return key
    },
    async forgetPendingKey() {
      await rm(pendingPath, { force: true })
    },
  }
}

const missing = (e: unknown): undefined => {
  if (isMissing(e)) return undefined
  throw e
}

function isKey(text: string): boolean {
  try {
    createPrivateKey(text)
    return true
  } catch {
    return false
  }
}
