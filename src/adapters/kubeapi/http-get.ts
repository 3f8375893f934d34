// GET of a kubelet over HTTP or HTTPS: a whole answer as JSON, with bounds. Every call ends with its deadline or its caller's
// signal. The API server has a client of its own (kube-api.ts).

import type { IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { type RequestOptions, request as requestHttps } from 'node:https'
import { type KeelsonError, keelsonError } from '../../core/errors.js'

interface GetOptions {
  /** Certificates, keys and headers. */
  readonly tls: RequestOptions
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Of the whole answer. */
  readonly maxBytes: number
  /** What to do about the server's certificate, by the code of its refusal. */
  readonly certificateRemedy?: (code: string) => string
}

const sourceError = (url: URL, why: string, details: object = {}, cause?: unknown): KeelsonError =>
  keelsonError(
    'companion.source',
    `GET ${url.origin}${url.pathname}: ${why}`,
    { url: url.href, ...details },
    cause,
  )

const remedyOf = (
  { code = '' }: NodeJS.ErrnoException,
  certificateRemedy: (code: string) => string = () => '; name the CA of its certificate',
): string =>
  code === 'ECONNREFUSED'
    ? '; nothing is listening there: is it running at this address and port?'
    : /CERT|SELF_SIGNED|VERIFY/.test(code)
      ? certificateRemedy(code)
      : ''

async function open(
  url: URL,
  { tls, signal, timeoutMs, certificateRemedy }: GetOptions,
): Promise<IncomingMessage> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const request = url.protocol === 'http:' ? requestHttp : requestHttps
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json', ...tls.headers }
    request(url, { ...tls, headers, signal: limited, agent: false }, resolve)
      .on('error', (cause) =>
        reject(sourceError(url, `${cause.message}${remedyOf(cause, certificateRemedy)}`, {}, cause)),
      )
      .end()
  })
}

const maxRefusal = 2000

async function refusal(url: URL, response: IncomingMessage): Promise<KeelsonError> {
  let text = ''
  for await (const part of response) {
    text += String(part)
    if (text.length > maxRefusal) break
  }
  const status = response.statusCode ?? 0
  return sourceError(url, `responded with ${status}: ${text.slice(0, 200).trim()}`, { status })
}

export async function getJson(url: URL, options: GetOptions): Promise<unknown> {
  const response = await open(url, options)
  if (response.statusCode !== 200) throw await refusal(url, response)
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length
      if (size > options.maxBytes) throw new Error(`more than ${options.maxBytes} bytes`)
      parts.push(part)
    }
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown
  } catch (cause) {
    throw sourceError(url, cause instanceof Error ? cause.message : String(cause), {}, cause)
  }
}
