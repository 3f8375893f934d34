// Certificate, key and client CA from files, looked at every second. A new set is used only when it holds together;
// until then the old one stays, so that a half-written file does no harm.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import type { TlsMaterial, TlsSource } from '../../ports/http.js'
import type { Log } from '../../ports/log.js'
import { parseBundle } from './client-trust.js'

interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly clientCaFile?: string
  /** The certificate may come later: handshakes fail until then. */
  readonly mayBeMissing?: true
}

const maxBytes = 4 * 1024 * 1024

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > maxBytes)
      throw keelsonError('input.too-large', `read ${path}: ${size} bytes is too large for a certificate`, {
        path,
      })
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (isKeelsonError(cause)) throw cause
    throw keelsonError(
      'input.unreadable',
      `read ${path}: check the path and its permissions`,
      { path },
      cause,
    )
  }
}

/** Until there is one: no handshake succeeds without a certificate. */
const noPair = { certificate: '', key: '' }

function readTlsMaterial({ clientCaFile, ...files }: TlsFiles): TlsMaterial {
  const pair = files.mayBeMissing === true && !existsSync(files.certFile) ? noPair : readPair(files)
  if (clientCaFile === undefined) return pair
  const clientCa = readText(clientCaFile)
  parseBundle(clientCa, clientCaFile)
  return { ...pair, clientCa }
}

function readPair({ certFile, keyFile }: TlsFiles): Pick<TlsMaterial, 'certificate' | 'key'> {
  const certificate = readText(certFile)
  const key = readText(keyFile)
  try {
    createSecureContext({ cert: certificate, key })
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
      throw new Error('key mismatch')
  } catch (cause) {
    throw keelsonError(
      'tls.invalid',
      `use ${certFile} with ${keyFile}: the key does not match the certificate`,
      {},
      cause,
    )
  }
  return { certificate, key }
}

function mark(files: TlsFiles): string {
  return [files.certFile, files.keyFile, files.clientCaFile]
    .map((path) => {
      const stat = path === undefined ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? '-' : `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.size}`
    })
    .join(' ')
}

interface TlsSourceOptions {
  readonly files: TlsFiles
  readonly log: Log
  readonly periodMs?: number
  /** Called now and then; renews a certificate of our own making. */
  readonly renew?: () => Promise<unknown>
  readonly renewPeriodMs?: number
}

export function createTlsSource({
  files,
  log,
  periodMs = 1000,
  renew,
  renewPeriodMs = 3_600_000,
}: TlsSourceOptions): TlsSource {
  let seen = mark(files)
  let material = readTlsMaterial(files)
  const listeners = new Set<(material: TlsMaterial) => void>()
  const look = (): void => {
    const now = mark(files)
    if (now === seen) return
    try {
      const next = readTlsMaterial(files)
      material = next
      for (const listener of listeners) listener(next)
      log.info('TLS files reloaded', { ...files })
    } catch (error) {
      // The two files of a pair change one after the other: the next look finds them both.
      log.warn('changed TLS files are invalid; the old ones stay in use', { ...files, error })
    }
    seen = now
  }
  const timers = [setInterval(look, periodMs).unref()]
  if (renew !== undefined)
    timers.push(
      setInterval(() => {
        renew().catch((error: unknown) => log.warn('failed to renew the certificate', { error }))
      }, renewPeriodMs).unref(),
    )
  return {
    current: () => material,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      for (const timer of timers) clearInterval(timer)
      listeners.clear()
    },
  }
}
