// Who we are to the API server, read anew for each call: tokens and certificates are replaced on disk while we run. A pair
// that does not fit together, because its two files are being replaced, is not used; the last good one is.
import { createHash, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { Log } from '../../ports/log.js'
import { readBounded } from '../files/read.js'
import { createExecCredentials } from './exec-credential.js'
import type { ApiAccess, Material } from './kubeconfig.js'

export interface Identity {
  /** Equal text: the same certificates, so that connections may be shared. */
  readonly connectionKey: string
  /** Undefined for plain HTTP. */
  readonly secureContext: SecureContext | undefined
  readonly authorization: string | undefined
}

export interface Credentials {
  read(signal: AbortSignal): Promise<Identity>
  /** The API server answered 401: what is kept may be outdated. */
  refused(): void
  /** When the client certificate in use ends, in ms since 1970; undefined: there is none. */
  expiresMs(): number | undefined
}

interface TlsPart {
  readonly connectionKey: string
  readonly secureContext: SecureContext
  readonly expiresMs: number | undefined
}

const maxFileBytes = 1024 * 1024

interface CredentialsOptions {
  readonly access: ApiAccess
  readonly log: Log
  readonly env?: NodeJS.ProcessEnv
  readonly nowMs?: () => number
}

export function createCredentials({
  access,
  log,
  env = process.env,
  nowMs = Date.now,
}: CredentialsOptions): Credentials {
  const { user } = access
  let lastGood: TlsPart | undefined
  let exec: ReturnType<typeof createExecCredentials> | undefined

  const pluginOf = (caText: string | undefined) => {
    if (user.exec === undefined) return undefined
    exec ??= createExecCredentials(
      user.exec,
      { ...access, ...(caText === undefined ? {} : { caText }) },
      env,
      nowMs,
    )
    return exec
  }
  const tlsOf = (ca: string | undefined, cert: string | undefined, key: string | undefined): TlsPart => {
    const connectionKey = fingerprint([ca, cert, key])
    if (lastGood?.connectionKey === connectionKey) return lastGood
    try {
      lastGood = {
        connectionKey,
        secureContext: createSecureContext({ ca, cert, key, minVersion: 'TLSv1.2' }),
        expiresMs: cert === undefined ? undefined : Date.parse(new X509Certificate(cert).validTo),
      }
    } catch (cause) {
      const error = keelsonError(
        'kubeapi.kubeconfig',
        `use the certificates for ${access.server.origin}: ${reasonOf(cause)}`,
      )
      if (lastGood === undefined) throw error
      log.warn('the client certificate on disk cannot be used; keeping the last one', { error })
    }
    return lastGood
  }
  return {
    async read(signal) {
      const files = new Map<string, Promise<string>>()
      const textOf = async (material: Material | undefined): Promise<string | undefined> => {
        if (material === undefined || 'text' in material) return material?.text
        const text = files.get(material.file) ?? readText(material.file)
        files.set(material.file, text)
        return text
      }
      const rotated = await readPair(access.pairFile)
      const [ca, ownCert, ownKey, token] = await Promise.all(
        [access.ca, rotated ?? user.certificate, rotated ?? user.key, user.token].map(textOf),
      )
      const asked = await pluginOf(ca)?.read(signal)
      const isTls = access.server.protocol === 'https:'
      const tls = isTls ? tlsOf(ca, asked?.certificate ?? ownCert, asked?.key ?? ownKey) : undefined
      return {
        connectionKey: tls?.connectionKey ?? 'plain',
        secureContext: tls?.secureContext,
        authorization: authorizationOf(token?.trim() ?? asked?.token, user.basic),
      }
    },
    refused: () => exec?.forget(),
    expiresMs: () => lastGood?.expiresMs,
  }
}

function authorizationOf(
  token: string | undefined,
  basic: { readonly username: string; readonly password: string } | undefined,
): string | undefined {
  // A line break would be a second header.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw keelsonError('kubeapi.kubeconfig', 'use the token for the API server: it is empty or not one word')
  if (token !== undefined) return `Bearer ${token}`
  if (basic === undefined) return undefined
  return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
}

/** Undefined: it is not there yet. */
async function readPair(file: string | undefined): Promise<Material | undefined> {
  const bytes = file === undefined ? undefined : await readBounded(file, maxFileBytes)
  return bytes === undefined ? undefined : { text: Buffer.from(bytes).toString('utf8') }
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readBounded(file, maxFileBytes)
    if (bytes === undefined) throw new Error('there is no such file')
    return Buffer.from(bytes).toString('utf8')
  } catch (cause) {
    throw keelsonError(
      'kubeapi.kubeconfig',
      `read ${file}, which the kubeconfig names: ${asKeelsonError(cause).message}`,
      { path: file },
    )
  }
}

/** OpenSSL's words without the numbers; they never repeat the key. */
const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message.replace(/^error:[0-9A-F]+:/, '') : String(cause)

function fingerprint(parts: readonly (string | undefined)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part?.length ?? -1}\0${part ?? ''}`)
  return hash.digest('base64')
}
