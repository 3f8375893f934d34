// What an API server would refuse in the resources of a pod. A node must survive such a pod, so these are
// notes beside the values and not errors.

import type { Problem } from '../units/problem.js'
import { compareQuantity, formatQuantity, type Quantity } from '../units/quantity.js'
import type { ResourceRequirements } from '../units/resource-list.js'
import { allContainers, type PodResources } from './pod.js'
import { podLimits, podRequests } from './resources.js'

export function podProblems(pod: PodResources): readonly Problem[] {
  const empty: Problem[] =
    pod.containers.length === 0
      ? [{ path: 'spec.containers', message: 'the pod has no containers', remedy: 'name at least one' }]
      : []
  return [
    ...empty,
    ...allContainers(pod).flatMap((c) => aboveLimit(`container ${c.name}`, c.resources)),
    ...(pod.resources === undefined ? [] : aboveLimit('spec.resources', pod.resources)),
  ]
}

const aboveLimit = (path: string, { requests, limits }: ResourceRequirements): Problem[] =>
  [...requests].flatMap(([name, request]) => {
    const limit = limits.get(name)
    if (limit === undefined || compareQuantity(request, limit) <= 0) return []
    return [
      {
        path,
        message: `the ${name} request ${formatQuantity(request)} is above its limit ${formatQuantity(limit)}`,
        remedy: 'an API server refuses this pod; lower the request',
      },
    ]
  })

const maxAmount = (2n ** 63n - 1n) * 1_000_000_000n
/** The kernel counts quota in 44 bits of microseconds: more cores than this cannot be written. */
const maxCores = 100_000_000n
const maxCpu = maxCores * 1_000_000_000n

/**
 * Amounts that only a slip of the keyboard produces, alone or together. A binary suffix was capped while it was read, so
 * equal counts.
 */
export const impossibleAmounts = (pod: PodResources): readonly Problem[] => {
  const alone = [
    ...allContainers(pod).map((c) => [`container ${c.name}`, c.resources] as const),
    ...(pod.resources === undefined ? [] : [['spec.resources', pod.resources] as const]),
  ].flatMap(([path, { requests, limits }]) => tooMuch(path, 'amount is', [...requests, ...limits]))
  if (alone.length > 0) return alone
  return tooMuch('spec.containers', 'amounts together are', [...podRequests(pod), ...podLimits(pod)])
}

const tooMuch = (path: string, what: string, amounts: readonly (readonly [string, Quantity])[]): Problem[] =>
  amounts
    .filter(([name, { nanos }]) => nanos >= (name === 'cpu' ? maxCpu : maxAmount))
    .map(([name]) => ({
      path,
      message: `the ${name} ${what} ${name === 'cpu' ? maxCores : '2^63-1'} or more, which no node has`,
      remedy: 'correct the number or its suffix',
    }))
