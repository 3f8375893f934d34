// What one request over a connection to the API server is, whatever the protocol: http2.ts, or http1.ts for servers without it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'

/** Where connections go, and who we are on them. */
export interface Endpoint {
  readonly origin: string
  readonly host: string
  readonly port: number
  /** Undefined: plain HTTP. */
  readonly tls:
    | {
        readonly secureContext: SecureContext
        readonly rejectUnauthorized: boolean
        /** Not there where the certificate is for an address. */
        readonly servername?: string
      }
    | undefined
}

export interface WireRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Of this request alone: aborted with the error that it ends with, and never after the head of the answer is there. */
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The caller's to read or to destroy. */
  readonly body: Readable
}

export interface Channel {
  send(request: WireRequest): Promise<Answer>
  /** Nothing new is sent; calls under way may end. */
  retire(): void
  /** Calls under way fail. */
  destroy(): void
}

/** An error that the next try may not have: see unreachable.ts. */
export const networkError = (code: 'ETIMEDOUT' | 'ECONNRESET', why: string): Error =>
  Object.assign(new Error(why), { code })
