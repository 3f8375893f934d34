// Which instance of a container a request for its log means, or why there is none, in upstream's words.
import type { ErrorCode } from '../../../core/errors.js'
import type { PodJson } from '../../../core/pod/document.js'
import type { LogRequest } from '../../../serve/endpoints/container-logs.js'
import { isOver, newestOf, type ObservedContainer, type ObservedPod } from '../../pods/decide/observed.js'

type LogChoice =
  | { readonly kind: 'log'; readonly pod: ObservedPod; readonly container: ObservedContainer }
  | { readonly kind: 'none'; readonly code: ErrorCode; readonly message: string }

/** `observed`: what the runtime has of the pod; `pod`: what the kubelet knows of it. Both may be missing. */
export function chooseLog(
  { pod: name, container, previous }: Pick<LogRequest, 'pod' | 'container' | 'previous'>,
  observed: ObservedPod | undefined,
  pod: PodJson | undefined,
): LogChoice {
  const [podText, containerText] = [JSON.stringify(name), JSON.stringify(container)]
  const none = (code: ErrorCode, message: string): LogChoice => ({ kind: 'none', code, message })
  if (observed === undefined && pod === undefined)
    return none('pod.not-found', `pod ${podText} does not exist`)
  const newest = observed === undefined ? undefined : newestOf(observed, container)
  if (newest === undefined && (pod === undefined || !containerNames(pod).includes(container)))
    return none('pod.not-found', `container ${containerText} not found in pod ${podText}`)
  const what = `container ${containerText} in pod ${podText}`
  if (previous) {
    const before = observed === undefined ? undefined : previousOf(observed, newest)
    return before === undefined || observed === undefined
      ? none('pod.not-started', `previous terminated ${what} not found`)
      : { kind: 'log', pod: observed, container: before }
  }
  return newest === undefined || observed === undefined
    ? none('pod.not-started', `${what} ${whyNoLog(pod, container)}`)
    : { kind: 'log', pod: observed, container: newest }
}

const specLists = ['containers', 'initContainers', 'ephemeralContainers'] as const

/** Of every kind. */
const containerNames = ({ spec }: PodJson): readonly unknown[] =>
  specLists.flatMap((list) => (Array.isArray(spec[list]) ? spec[list] : []).map(nameOf))

const nameOf = (container: unknown): unknown => (container as { readonly name?: unknown } | null)?.name

/** Of a container that waits for its next start the last instance is the previous one, unless an older is kept. */
function previousOf(pod: ObservedPod, newest: ObservedContainer | undefined): ObservedContainer | undefined {
  const older = pod.containers.find((one) => one.name === newest?.name && isOver(one) && one.id !== newest.id)
  return older ?? (newest !== undefined && isOver(newest) && newest.attempt > 0 ? newest : undefined)
}

function whyNoLog(pod: PodJson | undefined, container: string): string {
  const statuses = [...(pod?.status.containerStatuses ?? []), ...(pod?.status.initContainerStatuses ?? [])]
  const state = statuses.find(({ name }) => name === container)?.state
  if (state === undefined) return 'is not available'
  if (state.terminated !== undefined) return 'is terminated'
  switch (state.waiting?.reason) {
    case undefined:
      return 'is waiting to start - no logs yet'
    case 'ErrImagePull':
      return "is waiting to start: image can't be pulled"
    case 'ImagePullBackOff':
      return 'is waiting to start: trying and failing to pull image'
    default:
      return `is waiting to start: ${state.waiting?.reason}`
  }
}
