// createCriClient: both CRI services over one unix socket. Connects at the first call, reconnects by itself.
import {
  type DeepPartial,
  ImageServiceDefinition,
  type MessageFns,
  RuntimeServiceDefinition,
} from '../../../cri-api/api.js'
import type { CallOptions, CriClient, ImageService, RuntimeService } from '../../../ports/runtime.js'
import { bindStates } from '../codec/list-states.js'
import { bindMetrics } from '../codec/metrics-answer.js'
import { parseEndpoint } from '../endpoint.js'
import { type CallContext, callStream, callUnary, type Method } from './call.js'
import { type BackoffOptions, backoffDefaults, Channel } from './channel.js'

export interface CriClientOptions extends Partial<BackoffOptions> {
  /** Largest message taken from the runtime. */
  readonly maxReceiveBytes?: number
  /** For calls that name no timeout of their own; the kubelet's runtimeRequestTimeout. */
  readonly timeoutMs?: number
}

/** runtimeRequestTimeout's default. */
const defaultTimeoutMs = 120_000
const defaultReceiveBytes = 16 * 1024 * 1024

interface Definition {
  readonly fullName: string
  readonly methods: Readonly<
    Record<
      string,
      {
        readonly name: string
        readonly requestType: unknown
        readonly responseType: unknown
        readonly responseStream: boolean
      }
    >
  >
}

function bindService(ctx: CallContext, definition: Definition): unknown {
  return Object.fromEntries(
    Object.entries(definition.methods).map(([key, m]) => {
      const method: Method<unknown, unknown> = {
        name: m.name,
        path: `/${definition.fullName}/${m.name}`,
        requestType: m.requestType as MessageFns<unknown>,
        responseType: m.responseType as MessageFns<unknown>,
      }
      const run = m.responseStream ? callStream : callUnary
      return [key, (q: DeepPartial<unknown>, options?: CallOptions) => run(ctx, method, q, options)]
    }),
  )
}

export function createCriClient(endpoint: string, options: CriClientOptions = {}): CriClient {
  const parsed = parseEndpoint(endpoint)
  const channel = new Channel(parsed.socketPath, { ...backoffDefaults, ...options })
  const ctx: CallContext = {
    channel,
    socket: parsed.socketPath,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    maxReceiveBytes: options.maxReceiveBytes ?? defaultReceiveBytes,
    inProgress: new Set(),
  }
  return {
    endpoint: parsed.canonical,
    socketPath: parsed.socketPath,
    // The definitions that built these types built the objects as well.
    runtime: bindService(ctx, RuntimeServiceDefinition) as RuntimeService,
    image: bindService(ctx, ImageServiceDefinition) as ImageService,
    states: bindStates(ctx),
    metrics: bindMetrics(ctx),
    get state() {
      return channel.state
    },
    onState: (listener) => channel.onState(listener),
    close() {
      const inProgress = ctx.inProgress ?? []
      ctx.inProgress = undefined
      for (const call of inProgress) call.cancel()
      channel.close()
    },
  }
}
