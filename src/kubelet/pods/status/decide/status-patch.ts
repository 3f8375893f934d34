// What is sent of a pod's status: the kubelet's own parts, merged into what the API server has of others. Pure.
import type { KubePod } from '../../../../core/kube/objects.js'
import { strategicMergePatch } from '../../../../core/kube/strategic-merge.js'
import type { PodCondition, PodStatus } from '../../../../core/pod/status-json.js'
import { isTerminalPhase } from '../../decide/wanted-pod.js'

type Fields = Readonly<Record<string, unknown>>

interface Report {
  readonly status: PodStatus
  /** Something of the pod may still run. */
  readonly mayRun: boolean
}

const ownedConditions: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
  'AllContainersRestarting',
])

const ownedFields: ReadonlySet<string> = new Set([
  'observedGeneration',
  'phase',
  'conditions',
  'message',
  'reason',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'qosClass',
])

const listRules = {
  merged: { 'status.conditions': 'type', 'status.podIPs': 'ip' },
}

/** Undefined: the API server has all of it already. The uid is a precondition: another pod of this name is not touched. */
export function podStatusPatch(api: KubePod, report: Report): object | undefined {
  const before = { status: api.status ?? {} }
  const patch = strategicMergePatch(before, { status: mergedStatus(api.status ?? {}, report) }, listRules)
  return patch === undefined ? undefined : { metadata: { uid: api.metadata?.uid }, ...patch }
}

function mergedStatus(before: Fields, { status, mayRun }: Report): Fields {
  const { conditions: own, containerStatuses, startTime, ...rest } = status
  const foreign = Object.fromEntries(Object.entries(before).filter(([key]) => !ownedFields.has(key)))
  const ends = !isTerminalPhase(before['phase']) && isTerminalPhase(status.phase)
  const known = (before['conditions'] ?? []) as readonly PodCondition[]
  const conditions = mergedConditions(known, own, ends && !mayRun)
  return {
    ...foreign,
    ...rest,
    startTime: before['startTime'] ?? startTime,
    ...(containerStatuses.length === 0 ? {} : { containerStatuses }),
    ...(ends && mayRun ? phaseOf(before) : {}),
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

/** Resources that only one pod can have are free when a pod is over: as long as it may run, it is not. */
const phaseOf = (before: Fields): Fields => ({
  phase: before['phase'] ?? 'Pending',
  reason: before['reason'],
  message: before['message'],
})

/** Conditions of others stay, and first. What may be written by others too is sent once, with the end. */
function mergedConditions(
  known: readonly PodCondition[],
  own: readonly PodCondition[],
  ends: boolean,
): readonly PodCondition[] {
  // Of a pod that was rejected nothing was found out.
  if (own.length === 0) return known
  const shared = own.filter(({ type }) => !ownedConditions.has(type))
  const isReplaced = (type: string): boolean => ends && shared.some((c) => c.type === type)
  return [
    ...known.filter(({ type }) => !ownedConditions.has(type) && !isReplaced(type)),
    ...(ends ? shared : []),
    ...own.filter(({ type }) => ownedConditions.has(type)),
  ]
}

/** The kubelet has the last word on a deletion: nothing of the pod runs, and the API server knows how it ended. */
export const mayBeRemoved = (api: KubePod, finished: boolean): boolean =>
  finished && api.metadata?.deletionTimestamp !== undefined && isTerminalPhase(api.status?.phase)
