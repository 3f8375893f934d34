// ListMetricDescriptors and ListPodSandboxMetrics: answered from the cgroups, or the runtime's own with what it lacks.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import { keelsonError } from '../../core/errors.js'
import {
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsResponse,
  type Metric,
  type PodSandboxMetrics,
} from '../../cri-api/api.js'
import type { WholeAnswer } from '../../ports/cri-calls.js'
import { collectMetrics } from '../metrics/collect.js'
import { encodePodMetrics } from '../metrics/encode.js'
import { mergeDescriptors } from '../metrics/merge.js'
import { podMetricsOf } from '../metrics/messages.js'
import type { CollectedMetrics } from '../metrics/source.js'
import type { Services } from '../services.js'
import type { Answered } from './completing.js'
import { type CriMethod, runtimePath, tryDecode } from './method.js'

export const listMetricDescriptors: CriMethod = {
  path: runtimePath('ListMetricDescriptors'),
  async run(call, { metricsSource, table, log }) {
    const answer = await call.ask()
    const isMissing = answer.code === grpcCode.unimplemented
    if (isMissing) table.noteMissing(call.path)
    const given = tryDecode(ListMetricDescriptorsResponse, answer.message)
    if (!isMissing && given === undefined) return await call.relay(answer)
    try {
      const families = await metricsSource.families(call.signal)
      const descriptors = mergeDescriptors(given?.descriptors ?? [], families)
      const message = ListMetricDescriptorsResponse.encode({ ...given, descriptors }).finish()
      return await call.reply(message, isMissing ? undefined : answer)
    } catch (error) {
      if (isMissing) throw error
      log.debug('the metric descriptors of the runtime are relayed as they are', { error })
      return await call.relay(answer)
    }
  },
}

function withOthers(pod: PodSandboxMetrics, others: CollectedMetrics['others']): PodSandboxMetrics {
  const plus = (id: string, metrics: Metric[]): Metric[] => [...metrics, ...(others.get(id) ?? [])]
  return {
    ...pod,
    metrics: plus(pod.podSandboxId, pod.metrics),
    containerMetrics: pod.containerMetrics.map((c) => ({ ...c, metrics: plus(c.containerId, c.metrics) })),
  }
}

const encodeMetrics = async (
  { pods, others }: CollectedMetrics,
  given: ListPodSandboxMetricsResponse | undefined,
): Promise<Uint8Array> =>
  given === undefined
    ? await encodePodMetrics(pods)
    : ListPodSandboxMetricsResponse.encode({
        ...given,
        podMetrics: pods.map((collect) => withOthers(podMetricsOf(collect()), others)),
      }).finish()

export async function completePodMetrics(
  ask: () => Promise<WholeAnswer>,
  services: Services,
  signal: AbortSignal,
): Promise<Answered> {
  const asked: { answer?: WholeAnswer; given?: ListPodSandboxMetricsResponse } = {}
  const askRuntime = async (): Promise<readonly PodSandboxMetrics[] | undefined> => {
    const answer = await ask()
    asked.answer = answer
    if (answer.code === grpcCode.unimplemented) {
      services.table.noteMissing(runtimePath('ListPodSandboxMetrics'))
      return undefined
    }
    const given = tryDecode(ListPodSandboxMetricsResponse, answer.message)
    if (given === undefined)
      throw keelsonError('runtime.malformed', 'the answer of the runtime has no metrics')
    asked.given = given
    return given.podMetrics
  }
  try {
    const collected = await collectMetrics(askRuntime, services, signal)
    const message = await encodeMetrics(collected, asked.given)
    const { answer } = asked
    return answer === undefined || asked.given === undefined ? { message } : { message, answer }
  } catch (error) {
    const { answer } = asked
    if (answer === undefined || answer.code === grpcCode.unimplemented) throw error
    services.log.debug('the metrics of the runtime are relayed as they are', { error })
    return { answer }
  }
}

export const listPodSandboxMetrics: CriMethod = {
  path: runtimePath('ListPodSandboxMetrics'),
  async run(call, services) {
    const made = await completePodMetrics(() => call.ask(), services, call.signal)
    return 'message' in made ? await call.reply(made.message, made.answer) : await call.relay(made.answer)
  },
}
