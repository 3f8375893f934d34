// The CRI of this server for the process that it runs in: the same answers as over its socket, as values and not as bytes. Calls
// that the server only forwards go to the runtime directly.
import {
  ListPodSandboxStatsRequest,
  type ListPodSandboxStatsResponse,
  type MetricDescriptor,
  type PodSandboxMetrics,
} from '../cri-api/api.js'
import type { CallOptions, CriClient, RuntimeMetrics, RuntimeService } from '../ports/runtime.js'
import { isUnimplemented } from '../stats/runtime/calls.js'
import type { LookHere } from '../stats/runtime/local-look.js'
import { completeValues, type Given } from './methods/completing.js'
import { listOfPodStats } from './methods/pod-sandbox-stats.js'
import { findConfig } from './methods/runtime-config.js'
import { describeServer } from './methods/status.js'
import { collectMetrics } from './metrics/collect.js'
import { mergeDescriptors } from './metrics/merge.js'
import { laterPodMetrics } from './metrics/messages.js'
import type { Services } from './services.js'
import type { NodeView } from './stats/node-view.js'

const defaultTimeoutMs = 30_000

function signalOf({ signal, timeoutMs = defaultTimeoutMs }: CallOptions = {}): AbortSignal {
  const deadline = AbortSignal.timeout(timeoutMs)
  return signal === undefined ? deadline : AbortSignal.any([signal, deadline])
}

/** Stats and metrics are asked for at the same time: one look is both answers. */
const sharedNanos = 1_000_000_000n

/** The node as this server sees it, where all of that comes from the kernel. */
export function createLookHere({ values, repairs, clock }: Services): LookHere {
  let last: { readonly at: bigint; readonly view: Promise<NodeView> } | undefined
  return async () => {
    if (repairs.mode !== 'kernel') return undefined
    const now = clock.monotonicNanos()
    if (last === undefined || now - last.at >= sharedNanos)
      last = { at: now, view: values.look(AbortSignal.timeout(defaultTimeoutMs)) }
    const view = await last.view
    return view.hasOpaque ? undefined : view
  }
}

/** Undefined: the runtime does not have the RPC. */
const unlessMissing = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((e: unknown) => {
    if (isUnimplemented(e)) return undefined
    throw e
  })

/** `client`: to the runtime behind the server. */
export function completeClient(client: CriClient, services: Services): CriClient {
  const { runtime } = client

  const listPodSandboxStats: RuntimeService['listPodSandboxStats'] = async (request, options) => {
    const signal = signalOf(options)
    const said: { given?: ListPodSandboxStatsResponse; failure?: unknown } = {}
    const made = await completeValues(
      listOfPodStats,
      {
        request: ListPodSandboxStatsRequest.fromPartial(request),
        async ask(): Promise<Given<ListPodSandboxStatsResponse>> {
          try {
            said.given = await runtime.listPodSandboxStats(request, options)
            return { values: said.given }
          } catch (e) {
            said.failure = e
            return isUnimplemented(e) ? 'unimplemented' : 'unreadable'
          }
        },
        look: () => services.values.look(signal, 'stats'),
        signal,
      },
      services,
    )
    if (typeof made === 'object') return made.values
    // The node could not be read: the runtime's answer stays as it is.
    if (said.given !== undefined) return said.given
    throw said.failure
  }

  const listDescriptors = async (options?: CallOptions): Promise<MetricDescriptor[]> => {
    const given = await unlessMissing(runtime.listMetricDescriptors({}, options))
    return mergeDescriptors(
      given?.descriptors ?? [],
      await services.metricsSource.families(signalOf(options)),
    )
  }

  const askMetrics = async (
    options: CallOptions | undefined,
  ): Promise<readonly PodSandboxMetrics[] | undefined> =>
    (await unlessMissing(runtime.listPodSandboxMetrics({}, options)))?.podMetrics

  const list: RuntimeMetrics['list'] = async (options) => {
    const { pods, others } = await collectMetrics(() => askMetrics(options), services, signalOf(options))
    return pods.map((collect) => laterPodMetrics(collect(), others))
  }

  return {
    endpoint: client.endpoint,
    socketPath: client.socketPath,
    get state() {
      return client.state
    },
    onState: (listener) => client.onState(listener),
    close: () => client.close(),
    image: client.image,
    states: client.states,
    runtime: {
      ...runtime,
      async runtimeConfig(request, options) {
        try {
          return await runtime.runtimeConfig(request, options)
        } catch (e) {
          const found = isUnimplemented(e) ? await findConfig(services, signalOf(options)) : undefined
          if (found === undefined) throw e
          return found
        }
      },
      async status(request, options) {
        const answer = await runtime.status(request, options)
        if (request.verbose !== true) return answer
        return {
          ...answer,
          info: { ...answer.info, keelson: await describeServer(services, signalOf(options)) },
        }
      },
      listPodSandboxStats,
      async *streamPodSandboxStats(request, options) {
        yield { podSandboxStats: (await listPodSandboxStats(request, options)).stats }
      },
      listMetricDescriptors: async (_, options) => ({ descriptors: await listDescriptors(options) }),
    },
    metrics: {
      list,
      async *stream(options) {
        yield await list(options)
      },
    },
  }
}
