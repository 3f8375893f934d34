// A call without an answer, as an error: what broke, whether it may pass, and what to do about it.
import { keelsonError } from '../../core/errors.js'

/** Network failures that may be gone a moment later; a bad certificate is not one. */
const passingCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_HTTP2_STREAM_CANCEL',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
])

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: '; nothing listens there: is the API server running, at this address and port?',
  ENOTFOUND: '; its name is not known to DNS',
  EAI_AGAIN: '; DNS does not answer',
  CERT_HAS_EXPIRED: '; its certificate has expired: renew it, and check the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID:
    '; its certificate is for another name: correct the server, or set tls-server-name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: '; its certificate is not signed by certificate-authority',
  SELF_SIGNED_CERT_IN_CHAIN: '; its certificate is not signed by certificate-authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: '; its certificate is self-signed: put it into certificate-authority',
}

export function unreachable(doing: string, server: string, cause: unknown) {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const why = cause instanceof Error ? cause.message : String(cause)
  return keelsonError(
    'kubeapi.failed',
    `${doing}: the API server at ${server} is unreachable: ${why}${remedies[code] ?? ''}`,
    { passing: passingCodes.has(code), networkCode: code },
    cause,
  )
}
