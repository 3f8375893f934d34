// Header lists of one HTTP/2 stream made ready for another: raw in, so that repeated keys stay repeated and bytes stay
// as they are. And the two headers of gRPC that we read ourselves.
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, sensitiveHeaders } from 'node:http2'
import type { RawMetadata } from '../../../ports/cri-calls.js'

/** Node throws when one of these is given twice. */
const single = new Set([
  ':status',
  ':method',
  ':authority',
  ':scheme',
  ':path',
  'content-type',
  'content-length',
  'content-encoding',
  'user-agent',
  'te',
  'host',
  'date',
  'location',
  'retry-after',
  'etag',
  'authorization',
  'from',
  'referer',
  'max-forwards',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'expires',
  'age',
  'proxy-authorization',
  'dnt',
  'range',
  'content-language',
  'content-location',
  'content-md5',
  'content-range',
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'tk',
  'upgrade-insecure-requests',
  'x-content-type-options',
])

/** A second value of these means nothing. Others may be metadata of a call, whose values gRPC lets be joined. */
const ofHttp = /^(:|content-)/

type Marked = { [mark: symbol]: readonly string[] | undefined }

export function toHeaders(
  raw: RawMetadata,
  sensitive: readonly string[] = [],
  leaveOut?: ReadonlySet<string>,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = Object.create(null) as OutgoingHttpHeaders
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    if (leaveOut?.has(name)) continue
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (single.has(name)) {
      if (!ofHttp.test(name)) headers[name] = `${String(before)}, ${value}`
    } else if (Array.isArray(before)) before.push(value)
    else headers[name] = [String(before), value]
  }
  // Fields that must never enter a compression table keep that mark.
  if (sensitive.length > 0) (headers as Marked)[sensitiveHeaders] = [...sensitive]
  return headers
}

/** Names of the fields that must never enter a compression table. */
export const sensitiveIn = (headers: IncomingHttpHeaders): readonly string[] =>
  (headers as Marked)[sensitiveHeaders] ?? []

export function findHeader(raw: RawMetadata, name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) if (raw[i] === name) return raw[i + 1]
  return undefined
}

const unknownCode = 2

/** `grpc-status` as a number; UNKNOWN where it is absent or no number. */
export function statusOf(raw: RawMetadata): number {
  const text = findHeader(raw, 'grpc-status')
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : unknownCode
}

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
}

/** `grpc-timeout` in milliseconds: `2S` -> 2000. Undefined: none was given, or it is not one that gRPC has. */
export function parseGrpcTimeout(text: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text ?? '') ?? []
  const ms = unitMs[unit]
  return digits === undefined || ms === undefined ? undefined : Number(digits) * ms
}
