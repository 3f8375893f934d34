// All settings of the server, as one frozen object. The caller decides where the values come from;
// from-config.ts makes one from a KubeletConfiguration.
import type { ConnectionLimits } from '../ports/http.js'

export interface RequestLimits {
  /** Requests of known callers under way at once, streams apart. */
  readonly maxRequests: number
  readonly maxLongRunning: number
  /** Requests that wait for an answer of the API server about their caller: of unknown tokens, and about rights. */
  readonly maxWaiting: number
  readonly requestTimeoutMs: number
  /** exec, attach, port-forward and followed logs: upstream's streaming limit. */
  readonly longRunningTimeoutMs: number
  readonly maxBodyBytes: number
}

export type AuthorizationMode = 'Webhook' | 'AlwaysAllow'

export interface ServeSettings {
  /** `kubelet`, `companion` or `cri`; names the certificate files and appears in the log. */
  readonly process: string
  readonly nodeName: string
  readonly address: string
  readonly port: number
  /** 0: off. Plain HTTP without authentication. */
  readonly readOnlyPort: number
  readonly healthzAddress: string
  /** 0: off. */
  readonly healthzPort: number
  /** Given certificate; both or none. None: a self-signed one is made in `certDirectory`. */
  readonly tlsCertFile?: string
  /** Certificate and key in one file that may come later, in place of a self-signed pair. */
  readonly servingPairFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly certDirectory: string
  readonly tlsMinVersion: string
  /** Go names, as in the configuration; empty: the modern default. */
  readonly tlsCipherSuites: readonly string[]
  /** Numbers of key exchanges; empty: the default. */
  readonly tlsCurvePreferences: readonly number[]
  readonly clientCAFile?: string
  readonly anonymous: boolean
  readonly tokenReview: { readonly enabled: boolean; readonly cacheTtlMs: number }
  readonly authorization: {
    readonly mode: AuthorizationMode
    readonly allowTtlMs: number
    readonly denyTtlMs: number
  }
  readonly reviewTimeoutMs: number
  /** Holds the token of this machine; used, and made, only without an API server. */
  readonly localTokenFile: string
  /** Names besides IP literals, `localhost` and the node's own name under which browsers may come. */
  readonly hostNames: readonly string[]
  readonly enableDebuggingHandlers: boolean
  readonly fineGrainedAuthz: boolean
  readonly connections: ConnectionLimits
  readonly requests: RequestLimits
}

export const defaultPorts = { kubelet: 10250, companion: 10251, cri: 10252 } as const

const defaultConnectionLimits: ConnectionLimits = {
  maxConnections: 1024,
  maxHeaderBytes: 1024 * 1024, // as upstream
  maxUnknownBytes: 16 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  idleTimeoutMs: 90_000, // as upstream
  handshakeTimeoutMs: 10_000,
}

export const defaultRequestLimits: RequestLimits = {
  maxRequests: 256,
  maxLongRunning: 1024,
  maxWaiting: 256,
  requestTimeoutMs: 60_000,
  longRunningTimeoutMs: 4 * 3_600_000,
  maxBodyBytes: 64 * 1024,
}

/** The safe state: nothing is open that the configuration does not open. */
export const defaultSettings = (process: keyof typeof defaultPorts, nodeName: string): ServeSettings => ({
  process,
  nodeName,
  address: '0.0.0.0',
  port: defaultPorts[process],
  readOnlyPort: 0,
  healthzAddress: '127.0.0.1',
  healthzPort: process === 'kubelet' ? 10248 : 0,
  certDirectory: '/var/lib/keelson/pki',
  tlsMinVersion: 'VersionTLS12',
  tlsCipherSuites: [],
  tlsCurvePreferences: [],
  anonymous: false,
  tokenReview: { enabled: true, cacheTtlMs: 120_000 },
  authorization: { mode: 'Webhook', allowTtlMs: 300_000, denyTtlMs: 30_000 },
  reviewTimeoutMs: 10_000,
  localTokenFile: '/var/lib/keelson/token',
  hostNames: [],
  enableDebuggingHandlers: true,
  fineGrainedAuthz: true,
  connections: defaultConnectionLimits,
  requests: defaultRequestLimits,
})
