// Large answers for clients that take gzip, as every scraper does. An answer that many share is packed once for all of
// them: what is remembered goes with the answer.
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { HttpBody } from '../../ports/http.js'
import { isPieces, lengthOf } from './pieces.js'

const pack = promisify(gzip)
/** Below this the headers and the work weigh more than what is saved. */
const MIN_BYTES = 16 * 1024
/** Metrics repeat themselves so much that the fastest level already makes a twentieth of them. */
const LEVEL = 1

const packed = new WeakMap<object, Promise<Uint8Array>>()

/** `gzip;q=0` is a refusal. */
const takesGzip = (req: IncomingMessage): boolean =>
  String(req.headers['accept-encoding'] ?? '')
    .split(',')
    .some((part) => /^\s*gzip\s*(;\s*q\s*=\s*(1|0?\.\d*[1-9]\d*)\S*\s*)?$/i.test(part))

/** Undefined: send it as it is. */
export function compressed(body: HttpBody, req: IncomingMessage): Promise<Uint8Array> | undefined {
  if (!(body instanceof Uint8Array || isPieces(body)) || lengthOf(body) < MIN_BYTES || !takesGzip(req))
    return undefined
  const known = packed.get(body) ?? pack(isPieces(body) ? Buffer.concat(body) : body, { level: LEVEL })
  packed.set(body, known)
  return known
}
