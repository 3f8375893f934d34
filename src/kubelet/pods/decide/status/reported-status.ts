// The status that the API server has of a pod: written by an earlier life of this kubelet, by another kubelet, or by the
// scheduler. What does not have the shape of a status counts as not there.
import type { KubePod } from '../../../../core/kube/objects.js'
import type { ContainerStatusJson, PodStatus } from '../../../../core/pod/status-json.js'

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

/** The number of the last instance that ran, which the runtime may not have any more. */
export function reportedAttempts(api: KubePod | undefined): ReadonlyMap<string, number> {
  const { initContainerStatuses = [], containerStatuses = [] } = reportedStatus(api) ?? {}
  return new Map(
    [...initContainerStatuses, ...containerStatuses]
      .filter(({ containerID }) => containerID !== undefined)
      .map((status): [string, number] => [status.name, status.restartCount - (hasRun(status) ? 0 : 1)])
      .filter(([, attempt]) => attempt >= 0),
  )
}

/** An instance that was only created waits, without an end of its own. */
const hasRun = ({ containerID, state, lastState }: ContainerStatusJson): boolean =>
  state?.waiting === undefined ||
  state.waiting.reason === 'ContainerStatusUnknown' ||
  lastState?.terminated?.containerID === containerID
