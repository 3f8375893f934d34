// Bodies that are a list of bytes, so that a long text is never put together.
import type { HttpBody } from '../../ports/http.js'

export const isPieces = (body: HttpBody): body is readonly Uint8Array[] => Array.isArray(body)

export const lengthOf = (body: string | Uint8Array | readonly Uint8Array[]): number =>
  isPieces(body) ? body.reduce((length, piece) => length + piece.length, 0) : Buffer.byteLength(body)
