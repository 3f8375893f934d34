// Joins a client that leaves HTTP (SPDY, WebSocket) with the streaming server of the runtime, byte by byte.
import type { HttpAnswer, HttpRequest } from './http.js'

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

/** The client's request goes to the target; an answer other than `101 Switching Protocols` is passed on as it is. */
export type RelayUpgrade = (
  request: HttpRequest,
  target: StreamTarget,
  options: RelayOptions,
) => Promise<HttpAnswer>
