// Answers of the API server as values and errors: whole bodies as JSON, refusals with the server's own words, streams of lines.
import type { Readable } from 'node:stream'
import { type KeelsonError, keelsonError } from '../../core/errors.js'
import { parseRetryAfter } from '../../core/kube/retry.js'
import { type Answer, networkError } from './channel.js'
import { createLineSplitter } from './lines.js'

const maxRefusalBytes = 64 * 1024
const maxShown = 500

/** Ends with `late` or with an answer that is too large; the connection is then not used again. */
export async function readBody(
  body: Readable,
  {
    maxBytes,
    timeoutMs,
    signal,
  }: { readonly maxBytes: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string> {
  const end = (why: string): void => void body.destroy(networkError('ETIMEDOUT', why))
  const late = setTimeout(() => end(`the answer did not end in ${timeoutMs} ms`), timeoutMs)
  const onAbort = (): void => end('the caller gave up')
  signal.addEventListener('abort', onAbort, { once: true })
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      size += part.length
      if (size > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`)
      parts.push(part)
    }
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', onAbort)
  }
  return Buffer.concat(parts).toString('utf8')
}

export function parseJson(doing: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw keelsonError('kubeapi.failed', `${doing}: the answer of the API server is not JSON`)
  }
}

interface StatusWords {
  readonly reason?: string
  readonly message?: string
}

function parseStatus(text: string): StatusWords {
  try {
    const { reason, message } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return {
      ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
      ...(typeof message === 'string' && message !== '' ? { message } : {}),
    }
  } catch {
    // A balancer's page, or nothing: the number says enough.
    return {}
  }
}

export async function refusal(
  doing: string,
  { status, headers, body }: Answer,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<KeelsonError> {
  const text = await readBody(body, { ...limits, maxBytes: maxRefusalBytes }).catch(() => '')
  const { reason, message } = parseStatus(text)
  const retryAfterMs = parseRetryAfter(headers['retry-after'])
  return keelsonError(
    'kubeapi.failed',
    `${doing}: the API server responded with ${status}${message === undefined ? '' : `: ${message.slice(0, maxShown)}`}`,
    {
      status,
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  )
}

interface LineLimits {
  readonly maxLineBytes: number
  /** Longest silence between two parts of the stream. */
  readonly idleMs: number
  readonly signal: AbortSignal
}

/** Lines until the server ends the stream; a last line without its end is dropped, because it may be half of one. */
export async function* readLines(body: Readable, limits: LineLimits): AsyncGenerator<string> {
  const { maxLineBytes, idleMs, signal } = limits
  const silent = (): void => void body.destroy(networkError('ETIMEDOUT', `nothing came for ${idleMs} ms`))
  let timer = setTimeout(silent, idleMs)
  const onAbort = (): void => void body.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  const splitter = createLineSplitter(maxLineBytes)
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      clearTimeout(timer)
      timer = setTimeout(silent, idleMs)
      yield* splitter.push(piece)
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    body.destroy()
  }
}
