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
import { type ChannelOptions, channelDefaults, openChannel, watchState } from './channel.js'

export interface CriClientOptions extends Partial<ChannelOptions> {
  /** For calls that name no timeout of their own; the kubelet's runtimeRequestTimeout. */
  readonly timeoutMs?: number
}

/** runtimeRequestTimeout's default. */
const defaultTimeoutMs = 120_000

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
  const client = openChannel(parsed, { ...channelDefaults, ...options })
  const watch = watchState(client)
  const ctx: CallContext = {
    client,
    socket: parsed.socketPath,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    inProgress: new Set(),
    connection: watch,
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
      return watch.state
    },
    onState: watch.onState,
    close() {
      const inProgress = ctx.inProgress ?? []
      ctx.inProgress = undefined
      for (const call of inProgress) call.cancel()
      client.close()
    },
  }
}
