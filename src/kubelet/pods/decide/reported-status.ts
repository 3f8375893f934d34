// The status that the API server has of a pod: written by an earlier life of this kubelet, by another kubelet, or by the
// scheduler. What does not have the shape of a status counts as not there.
import type { KubePod } from '../../../core/kube/objects.js'
import type { PodStatus } from '../../../core/pod/status-json.js'

export function reportedStatus(api: KubePod | undefined): Partial<PodStatus> | undefined {
  const status = api?.status
  if (status === undefined) return undefined
  const entries = Object.entries(status).filter(([key, value]) =>
    lists.has(key) ? Array.isArray(value) : value !== null,
  )
  return Object.fromEntries(entries) as Partial<PodStatus>
}

const lists = new Set([
  'conditions',
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
  'hostIPs',
  'podIPs',
])

/** Of containers that ran and that the runtime may not have any more. */
export function reportedAttempts(api: KubePod | undefined): ReadonlyMap<string, number> {
  const { initContainerStatuses = [], containerStatuses = [] } = reportedStatus(api) ?? {}
  return new Map(
    [...initContainerStatuses, ...containerStatuses]
      .filter(({ containerID, restartCount }) => containerID !== undefined && restartCount >= 0)
      .map(({ name, restartCount }) => [name, restartCount]),
  )
}
