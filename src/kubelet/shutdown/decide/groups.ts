// How the time of a shutdown is divided: groups of pods by priority, one after the other, each with its own time.
import type { PodResources } from '../../../core/pod/pod.js'

export interface ShutdownPeriod {
  /** The lowest priority of the group. */
  readonly priority: number
  readonly seconds: number
}

interface ShutdownFields {
  readonly shutdownGracePeriod: number
  readonly shutdownGracePeriodCriticalPods: number
  readonly shutdownGracePeriodByPodPriority: readonly {
    readonly priority: number
    readonly shutdownGracePeriodSeconds: number
  }[]
}

const critical = 2_000_000_000

/** Lowest priority first; empty: a shutdown does not wait for pods. */
export function shutdownPeriods(fields: ShutdownFields, byPriority: boolean): readonly ShutdownPeriod[] {
  const given = byPriority ? fields.shutdownGracePeriodByPodPriority : []
  if (given.length > 0)
    return given
      .map((p) => ({ priority: p.priority, seconds: p.shutdownGracePeriodSeconds }))
      .sort((a, b) => a.priority - b.priority)
  const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: last } = fields
  if (all === 0) return []
  const seconds = (ms: number): number => Math.floor(ms / 1000)
  return [
    { priority: 0, seconds: seconds(all - last) },
    { priority: critical, seconds: seconds(last) },
  ]
}

export const wholeTimeSeconds = (periods: readonly ShutdownPeriod[]): number =>
  periods.reduce((sum, { seconds }) => sum + seconds, 0)

interface ShutdownGroup<P> extends ShutdownPeriod {
  readonly pods: readonly P[]
}

/** In the order in which they end. A pod belongs to the highest group that its priority reaches, else to the lowest. */
export function shutdownGroups<P extends { readonly pod: PodResources }>(
  periods: readonly ShutdownPeriod[],
  pods: readonly P[],
): readonly ShutdownGroup<P>[] {
  const groupOf = ({ pod }: P): number =>
    Math.max(
      0,
      periods.findLastIndex(({ priority }) => priority <= (pod.priority ?? 0)),
    )
  return periods
    .map((period, n) => ({ ...period, pods: pods.filter((pod) => groupOf(pod) === n) }))
    .filter((group) => group.pods.length > 0)
}
