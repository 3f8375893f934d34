// A serving certificate of our own making, for nodes that were given none: P-256, one year, renewed before its end
// or when the node's names change. Key and certificate are readable by their owner alone.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAddress } from './is-address.js'
import type { ServingPair } from './write-self-signed.js'

const dayMs = 86_400_000
const lifetimeMs = 365 * dayMs
export const renewBeforeMs = 30 * dayMs

/** DNS names and addresses in the certificate. */
export async function createSelfSigned(commonName: string, hosts: readonly string[]): Promise<ServingPair> {
  const { writeSelfSigned } = await import('./write-self-signed.js')
  return writeSelfSigned(commonName, hosts, lifetimeMs)
}

/** Whether a pair can go on being used: its key, its dates, every name. */
export function isUsable(
  { certificate, key }: ServingPair,
  hosts: readonly string[],
  nowMs: number,
): boolean {
  try {
    const parsed = new X509Certificate(certificate)
    if (!parsed.checkPrivateKey(createPrivateKey(key))) return false
    if (Date.parse(parsed.validFrom) > nowMs || Date.parse(parsed.validTo) < nowMs + renewBeforeMs)
      return false
    return hosts.every((h) => (isAddress(h) ? parsed.checkIP(h) : parsed.checkHost(h)) !== undefined)
  } catch {
    return false
  }
}

interface SelfSignedFiles {
  readonly certFile: string
  readonly keyFile: string
}

export const selfSignedFiles = (directory: string, name: string): SelfSignedFiles => ({
  certFile: join(directory, `${name}.crt`),
  keyFile: join(directory, `${name}.key`),
})

function writePrivate(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}

function readPair({ certFile, keyFile }: SelfSignedFiles): ServingPair | undefined {
  try {
    return { certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  } catch {
    return undefined
  }
}

/** Makes the pair unless a good one is there. True: a new one was written. */
export async function ensureSelfSigned(
  directory: string,
  name: string,
  commonName: string,
  hosts: readonly string[],
): Promise<boolean> {
  const files = selfSignedFiles(directory, name)
  const kept = readPair(files)
  if (kept !== undefined && isUsable(kept, hosts, Date.now())) return false
  const made = await createSelfSigned(commonName, hosts)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writePrivate(files.keyFile, made.key)
  writePrivate(files.certFile, made.certificate)
  return true
}
