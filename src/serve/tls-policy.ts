// Which TLS versions and cipher suites we speak: configuration uses Go's names, OpenSSL has its own. Nothing below
// TLS 1.2 and no suite without forward secrecy and authenticated encryption can be configured.
import { keelsonError } from '../core/errors.js'
import type { TlsOptions } from '../ports/http.js'

const modern: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
}

/** Always on with TLS 1.3, as in Go, whatever the list says. */
const tls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']

const versions: Readonly<Record<string, TlsOptions['minVersion']>> = {
  '': 'TLSv1.2',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
}

/** By the numbers of the TLS registry, which are Go's too. Those with ML-KEM need an OpenSSL that Node.js 20 does not have. */
const exchanges: Readonly<Record<number, string>> = { 23: 'P-256', 24: 'P-384', 25: 'P-521', 29: 'X25519' }

interface TlsPolicy extends Omit<TlsOptions, 'source'> {
  /** Asked for and not offered; the caller says so. */
  readonly dropped: readonly string[]
}

/** Hardening guides still list suites without forward secrecy: those are left out, and a list of only such is an error. */
export function decideTlsPolicy(
  minVersion: string,
  suites: readonly string[],
  curves: readonly number[] = [],
): TlsPolicy {
  const version = Object.hasOwn(versions, minVersion) ? versions[minVersion] : undefined
  if (version === undefined)
    throw keelsonError(
      'config.invalid',
      `tlsMinVersion: ${minVersion} is not supported; use VersionTLS12 or VersionTLS13`,
    )
  const isOffered = (suite: string): boolean => Object.hasOwn(modern, suite) || tls13.includes(suite)
  const wanted = suites.length === 0 ? Object.keys(modern) : suites.filter(isOffered)
  if (wanted.length === 0)
    throw keelsonError(
      'config.invalid',
      `tlsCipherSuites: none of ${suites.join(', ')} is supported; remove the field, or use ${Object.keys(modern).join(', ')}`,
    )
  const groups = curves.flatMap((id) => exchanges[id] ?? [])
  if (curves.length > 0 && groups.length === 0)
    throw keelsonError(
      'config.invalid',
      `tlsCurvePreferences: none of ${curves.join(', ')} is supported; remove the field, or use ${Object.keys(exchanges).join(', ')}`,
    )
  const tls12 = [...new Set(wanted.flatMap((s) => (Object.hasOwn(modern, s) ? [modern[s] ?? ''] : [])))]
  return {
    minVersion: version,
    ciphers: [...tls13, ...tls12],
    groups: [...new Set(groups)],
    dropped: [
      ...suites.filter((s) => !isOffered(s)),
      ...curves.filter((id) => exchanges[id] === undefined).map((id) => `key exchange ${id}`),
    ],
  }
}
