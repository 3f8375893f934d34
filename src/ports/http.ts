// One HTTP exchange as the features see it, and the listener that carries it. Sockets, TLS and parsing are the
// adapter's business; who may ask what is decided in serve.
import type { Duplex } from 'node:stream'

/** What a client's certificate says. `check` is asked again on every request: trust and time move on. */
export interface PeerCertificate {
  readonly commonNames: readonly string[]
  readonly organizations: readonly string[]
  readonly fingerprint256: string
  /** Undefined: trusted now, by the CA bundle now in use. Otherwise the reason why not. */
  check(): string | undefined
}

export interface HttpPeer {
  readonly address: string
  readonly certificate?: PeerCertificate
}

export interface HttpRequest {
  readonly method: string
  /** The request target exactly as it was sent. */
  readonly target: string
  /** Lower-case name to every value, in the order they came. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly peer: HttpPeer
  /** The client asked to leave HTTP (WebSocket, SPDY); only an `HttpTakeover` grants it. */
  readonly upgrade: boolean
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
  /** Resolves when the exchange is over: answered in full, cut, or the connection handed back. Never rejects. */
  readonly finished: Promise<void>
  /**
   * Says that the caller is known: from here on the connection is not sacrificed for others. The exchange is cut when
   * it lasts longer than `timeoutMs`.
   */
  admit(timeoutMs: number): void
  /** The body, given up with `request.too-large` once it passes the limit. */
  body(maxBytes: number): AsyncIterable<Uint8Array>
}

/** A list of bytes is sent one after the other, and may be shared with other answers. */
export type HttpBody = string | Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array | string>

export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: HttpBody
  /** End the connection afterwards, whatever the client wished. */
  readonly close?: boolean
}

/** Hands the raw connection over. The function answers the upgrade itself and resolves when it is done. */
interface HttpTakeover {
  takeOver(connection: { readonly socket: Duplex; readonly head: Uint8Array }): Promise<void>
}

export type HttpAnswer = HttpResponse | HttpTakeover
/** Never rejects: what went wrong is an answer. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>

export interface ConnectionLimits {
  /** Connections held at once; at the limit the oldest unauthenticated one is closed. */
  readonly maxConnections: number
  readonly maxHeaderBytes: number
  /** Header bytes held for callers that are not known yet, all connections together. */
  readonly maxUnknownBytes: number
  readonly headersTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly handshakeTimeoutMs: number
}

export interface TlsMaterial {
  readonly certificate: string
  readonly key: string
  /** PEM bundle that client certificates are checked against; undefined: none are asked for. */
  readonly clientCa?: string
}

/** Certificate, key and client CA, read again when their files change. */
export interface TlsSource {
  current(): TlsMaterial
  /** Called after each change. Returns the unsubscribe function. */
  onChange(listener: (material: TlsMaterial) => void): () => void
  close(): void
}

export interface TlsOptions {
  readonly source: TlsSource
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** OpenSSL names, in order of preference. */
  readonly ciphers: readonly string[]
  /** Key exchanges, by OpenSSL's names; empty: the default. */
  readonly groups: readonly string[]
}

export interface ListenOptions {
  readonly address: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls?: TlsOptions
  readonly limits: ConnectionLimits
  /** Called for connections that were cut or never became a request, by reason. */
  readonly onRefused?: (reason: RefusedReason) => void
}

export type RefusedReason = 'evicted' | 'full' | 'handshake' | 'malformed' | 'header-too-large' | 'timeout'

export interface HttpListener {
  readonly address: string
  readonly port: number
  readonly connections: number
  /** Stops accepting, lets requests under way end for `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>
}

export type Listen = (options: ListenOptions, handle: HttpHandler) => Promise<HttpListener>

/** Where the runtime's streaming server waits for one stream; always on this machine. */
export interface StreamTarget {
  readonly host: string
  readonly port: number
  /** Path and query, with the runtime's one-time token. */
  readonly path: string
}

interface RelayOptions {
  /** Until the runtime has answered. */
  readonly timeoutMs: number
  /** A stream without a byte in either direction is ended after this; 0: never. */
  readonly idleMs: number
}

/**
 * Joins a client that leaves HTTP (SPDY, WebSocket) with the runtime's streaming server, byte by byte. Its request goes to the
 * target; an answer other than `101 Switching Protocols` is passed on as it is.
 */
export type RelayUpgrade = (
  request: HttpRequest,
  target: StreamTarget,
  options: RelayOptions,
) => Promise<HttpAnswer>
