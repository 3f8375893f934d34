// ContainerStats and ListContainerStats: the runtime's values with the fields that it leaves out.
import {
  ContainerStatsRequest,
  ContainerStatsResponse,
  ListContainerStatsRequest,
  ListContainerStatsResponse,
} from '../../cri-api/api.js'
import { completeContainerStats } from '../stats/complete.js'
import { missingInContainer } from '../stats/missing.js'
import { allContainerStats, containerStatsOf } from '../stats/own-stats.js'
import { runCompleting, type StatsMethod } from './completing.js'
import { type CriMethod, runtimePath } from './method.js'

const one: StatsMethod<ContainerStatsRequest, ContainerStatsResponse> = {
  request: ContainerStatsRequest,
  response: ContainerStatsResponse,
  complete: ({ stats, ...rest }, view, repair) => ({
    ...rest,
    stats: stats && completeContainerStats(stats, view, repair),
  }),
  answer({ containerId }, view) {
    const stats = containerStatsOf(view, containerId)
    return stats && { stats }
  },
}

export const listOfContainerStats: StatsMethod<ListContainerStatsRequest, ListContainerStatsResponse> = {
  request: ListContainerStatsRequest,
  response: ListContainerStatsResponse,
  complete: (given, view, repair) => ({
    ...given,
    stats: given.stats.map((c) => completeContainerStats(c, view, repair)),
  }),
  answer: ({ filter }, view) => ({ stats: allContainerStats(view, filter) }),
}

export const containerStats: CriMethod = {
  path: runtimePath('ContainerStats'),
  run: (call, services) => runCompleting(one, call, services),
  missingFields(message) {
    const { stats } = ContainerStatsResponse.decode(message)
    return stats === undefined ? ['stats'] : missingInContainer(stats)
  },
}

export const listContainerStats: CriMethod = {
  path: runtimePath('ListContainerStats'),
  run: (call, services) => runCompleting(listOfContainerStats, call, services),
  missingFields: (message) => [
    ...new Set(ListContainerStatsResponse.decode(message).stats.flatMap((c) => missingInContainer(c))),
  ],
}
