// The life of a container or sandbox as events tell it: which events lie between what was told and what the runtime
// confirms now. A stage that was passed between two looks gets its event too, in order.
import { ContainerEventType, ContainerState, PodSandboxState } from '../../cri-api/api.js'

export type Stage = 'created' | 'started' | 'stopped' | 'deleted'

const order: readonly Stage[] = ['created', 'started', 'stopped', 'deleted']

const types: Readonly<Record<Stage, ContainerEventType>> = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  stopped: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
}

/** Undefined: the runtime does not know its state itself, so nothing is told. */
export function containerStage(state: ContainerState): Stage | undefined {
  switch (state) {
    case ContainerState.CONTAINER_CREATED:
      return 'created'
    case ContainerState.CONTAINER_RUNNING:
      return 'started'
    case ContainerState.CONTAINER_EXITED:
      return 'stopped'
    default:
      return undefined
  }
}

export const sandboxStage = (state: PodSandboxState): Stage =>
  state === PodSandboxState.SANDBOX_READY ? 'started' : 'stopped'

/** Events after `told` up to `now`. `wasStarted` false: it ended without having run. */
export function eventsBetween(
  told: Stage | undefined,
  now: Stage,
  wasStarted: boolean,
): readonly ContainerEventType[] {
  const first = told === undefined ? 0 : order.indexOf(told) + 1
  return order
    .slice(first, order.indexOf(now) + 1)
    .filter((stage) => stage !== 'started' || now === 'started' || wasStarted)
    .map((stage) => types[stage])
}
