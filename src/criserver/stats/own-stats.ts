// Stats messages made from our own values of the node alone, for runtimes that do not give them.
import {
  type ContainerStats,
  type ContainerStatsFilter,
  PodSandboxState,
  type PodSandboxStats,
  type PodSandboxStatsFilter,
} from '../../cri-api/api.js'
import { findById, hasLabels, type NodeView } from './node-view.js'
import { toContainerStats, toPodSandboxStats } from './to-cri.js'

type Filled = PodSandboxStats & { readonly linux: NonNullable<PodSandboxStats['linux']> }

/** Undefined: it does not run, or cgroups say nothing about it. */
export function containerStatsOf(view: NodeView, id: string): ContainerStats | undefined {
  const about = findById(view.containers, id)
  const sample = about && view.container(about.id)
  return about && sample && toContainerStats(about, sample, view.layer(about.id))
}

export function podStatsOf(view: NodeView, id: string): Filled | undefined {
  const about = findById(view.sandboxes, id)
  const sample = about && view.pod(about.id)
  if (about?.state !== PodSandboxState.SANDBOX_READY || sample === undefined) return undefined
  const containers = sample.containers.flatMap((c) => containerStatsOf(view, c.info.id) ?? [])
  return toPodSandboxStats(about, sample, containers)
}

/** Running ones, as the runtime lists them. */
export const allContainerStats = (
  view: NodeView,
  filter: ContainerStatsFilter | undefined,
): ContainerStats[] =>
  [...view.containers.values()]
    .filter(
      (c) =>
        c.id.startsWith(filter?.id ?? '') &&
        c.podSandboxId.startsWith(filter?.podSandboxId ?? '') &&
        hasLabels(c.labels, filter?.labelSelector ?? {}),
    )
    .flatMap((c) => containerStatsOf(view, c.id) ?? [])

export const allPodStats = (view: NodeView, filter: PodSandboxStatsFilter | undefined): PodSandboxStats[] =>
  [...view.sandboxes.values()]
    .filter((s) => s.id.startsWith(filter?.id ?? '') && hasLabels(s.labels, filter?.labelSelector ?? {}))
    .flatMap((s) => podStatsOf(view, s.id) ?? [])
