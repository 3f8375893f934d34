// PodSandboxStats and ListPodSandboxStats: the runtime's values with the fields that it leaves out; the list alone where
// the runtime is known to take seconds for it, or to end.
import {
  ListPodSandboxStatsRequest,
  ListPodSandboxStatsResponse,
  PodSandboxStatsRequest,
  PodSandboxStatsResponse,
} from '../../cri-api/api.js'
import { completePodStats } from '../stats/complete.js'
import { missingInPod } from '../stats/missing.js'
import { allPodStats, podStatsOf } from '../stats/own-stats.js'
import { runCompleting, type StatsMethod } from './completing.js'
import { type CriMethod, runtimePath } from './method.js'

const one: StatsMethod<PodSandboxStatsRequest, PodSandboxStatsResponse> = {
  request: PodSandboxStatsRequest,
  response: PodSandboxStatsResponse,
  complete: ({ stats, ...rest }, view, repair) => ({
    ...rest,
    stats: stats && completePodStats(stats, view, repair),
  }),
  answer({ podSandboxId }, view) {
    const stats = podStatsOf(view, podSandboxId)
    return stats && { stats }
  },
}

export const listOfPodStats: StatsMethod<ListPodSandboxStatsRequest, ListPodSandboxStatsResponse> = {
  request: ListPodSandboxStatsRequest,
  response: ListPodSandboxStatsResponse,
  complete: (given, view, repair) => ({
    ...given,
    stats: given.stats.map((p) => completePodStats(p, view, repair)),
  }),
  answer: ({ filter }, view) => ({ stats: allPodStats(view, filter) }),
  isOurs: (hasDefect) => hasDefect('slow-pod-stats') || hasDefect('panic-without-cgroup'),
}

export const podSandboxStats: CriMethod = {
  path: runtimePath('PodSandboxStats'),
  run: (call, services) => runCompleting(one, call, services),
  missingFields(message) {
    const { stats } = PodSandboxStatsResponse.decode(message)
    return stats === undefined ? ['stats'] : missingInPod(stats)
  },
}

export const listPodSandboxStats: CriMethod = {
  path: runtimePath('ListPodSandboxStats'),
  run: (call, services) => runCompleting(listOfPodStats, call, services),
  missingFields: (message) => [
    ...new Set(ListPodSandboxStatsResponse.decode(message).stats.flatMap(missingInPod)),
  ],
}
