// Bytes to text, with the three refusals that come before any parser sees them: too large, binary, not UTF-8.

import { keelsonError } from '../core/errors.js'

export interface NamedBytes {
  readonly path: string
  readonly bytes: Uint8Array
}

/** A configuration file is a few kilobytes. The parser needs seconds for a hostile megabyte, hence the low bound. */
export const maxConfigBytes = 256 * 1024

export function decodeText({ path, bytes }: NamedBytes, maxBytes = maxConfigBytes): string {
  if (bytes.byteLength > maxBytes) {
    throw keelsonError(
      'input.too-large',
      `read ${path}: ${bytes.byteLength} bytes, more than the limit of ${maxBytes}; is this the right file?`,
      { path, bytes: bytes.byteLength, maxBytes },
    )
  }
  if (bytes.includes(0)) throw notText(path)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (e) {
    throw notText(path, e)
  }
}

const notText = (path: string, cause?: unknown) =>
  keelsonError(
    'input.not-text',
    `read ${path}: not UTF-8 text; a YAML or JSON file is expected`,
    { path },
    cause,
  )
