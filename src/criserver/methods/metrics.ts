// ListMetricDescriptors and ListPodSandboxMetrics: answered from the cgroups, or the runtime's own with what it lacks.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import {
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsResponse,
  type Metric,
  type PodSandboxMetrics,
} from '../../cri-api/api.js'
import type { WholeAnswer } from '../../ports/cri-calls.js'
import { encodePodMetrics } from '../metrics/encode.js'
import { mergeDescriptors } from '../metrics/merge.js'
import { podMetricsOf } from '../metrics/messages.js'
import type { CollectedMetrics } from '../metrics/source.js'
import type { Services } from '../services.js'
import { repairOf } from './completing.js'
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

async function completePodMetrics(
  given: ListPodSandboxMetricsResponse | undefined,
  services: Services,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const repair = await repairOf(services, signal)
  const collected = await services.metricsSource.collect(given?.podMetrics, repair, signal)
  if (given === undefined) return encodePodMetrics(collected.pods)
  return ListPodSandboxMetricsResponse.encode({
    ...given,
    podMetrics: collected.pods.map((collect) => withOthers(podMetricsOf(collect()), collected.others)),
  }).finish()
}

/** Undefined: the runtime's answer stays as it is. */
export async function podMetricsMessage(
  answer: WholeAnswer,
  services: Services,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const isMissing = answer.code === grpcCode.unimplemented
  const given = tryDecode(ListPodSandboxMetricsResponse, answer.message)
  if (!isMissing && given === undefined) return undefined
  try {
    return await completePodMetrics(given, services, signal)
  } catch (error) {
    if (isMissing) throw error
    services.log.debug('the metrics of the runtime are relayed as they are', { error })
    return undefined
  }
}

export const listPodSandboxMetrics: CriMethod = {
  path: runtimePath('ListPodSandboxMetrics'),
  async run(call, services) {
    const answer = await call.ask()
    const isMissing = answer.code === grpcCode.unimplemented
    if (isMissing) services.table.noteMissing(call.path)
    const message = await podMetricsMessage(answer, services, call.signal)
    if (message === undefined) return await call.relay(answer)
    return await call.reply(message, isMissing ? undefined : answer)
  },
}
