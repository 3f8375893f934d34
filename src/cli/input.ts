// Reads what a person named on the command line: a file, or `-` for standard input. Bounded, and clear about
// what is wrong with the name.

import { readBounded } from '../adapters/files/read.js'
import type { NamedBytes } from '../config/read-text.js'
import { keelsonError } from '../core/errors.js'
import type { Io } from './io.js'

export async function readInput(path: string, maxBytes: number, io: Io): Promise<NamedBytes> {
  if (path === '-') return { path: 'standard input', bytes: await readStream(io.stdin, maxBytes) }
  const bytes = await readBounded(path, maxBytes)
  if (bytes === undefined)
    throw keelsonError('input.unreadable', `read ${path}: no such file; check the path`, { path })
  return { path, bytes }
}

async function readStream(stream: NodeJS.ReadableStream, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    chunks.push(bytes)
    length += bytes.length
    if (length > maxBytes)
      throw keelsonError(
        'input.too-large',
        `read standard input: more than ${maxBytes} bytes; is it the right file?`,
        { maxBytes },
      )
  }
  return Buffer.concat(chunks)
}
