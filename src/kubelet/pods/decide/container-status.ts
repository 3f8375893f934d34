// The status of one container as the Kubernetes API shows it.

import type { ContainerSpec } from '../../../core/pod/spec/spec.js'
import type {
  ContainerStateJson,
  ContainerStatusJson,
  TerminatedJson,
} from '../../../core/pod/status-json.js'
import { formatTime } from '../../../core/units/rfc3339.js'
import { type ContainerHealth, type PodHealth, unprobed } from '../../probes/decide/health.js'
import type { Waiting } from './actions.js'
import { newestOf, type ObservedContainer, type ObservedPod } from './observed.js'

interface ContainerStatusFacts {
  readonly observed: ObservedPod
  readonly waiting: ReadonlyMap<string, Waiting>
  readonly initializing: boolean
  /** What probes say of running containers, by id. */
  readonly health?: PodHealth
  /** `containerd` in `containerd://0123`. */
  readonly runtimeName: string
}

export function containerStatus(spec: ContainerSpec, facts: ContainerStatusFacts): ContainerStatusJson {
  const { name, kind } = spec
  const newest = newestOf(facts.observed, name)
  const waiting = facts.waiting.get(name)
  const state = stateOf(newest, waiting, kind, facts)
  // A wait puts the instance that ended into the past.
  const isPast = newest?.state === 'exited' && state.waiting !== undefined
  const before = isPast
    ? newest
    : facts.observed.containers.find((c) => c.name === name && c.state === 'exited' && c.id !== newest?.id)
  const health = runningHealth(spec, newest, facts.health)
  return {
    name,
    state,
    lastState: before === undefined ? {} : { terminated: terminated(before, facts.runtimeName) },
    ready: kind === 'init' ? state.terminated?.exitCode === 0 : health.ready,
    restartCount: newest?.attempt ?? 0,
    image: newest?.image === undefined || newest.image === '' ? spec.image : newest.image,
    imageID: newest?.imageId ?? '',
    ...(newest === undefined ? {} : { containerID: idOf(newest, facts.runtimeName) }),
    started: health.started,
  }
}

const notRunning: ContainerHealth = { started: false, ready: false, failed: undefined }

/** Started and ready as its probes say; what does not run is neither. */
export const runningHealth = (
  { probes }: Pick<ContainerSpec, 'probes'>,
  newest: ObservedContainer | undefined,
  health: PodHealth | undefined,
): ContainerHealth =>
  newest?.state === 'running' ? (health?.get(newest.id) ?? unprobed(probes)) : notRunning

function stateOf(
  newest: ObservedContainer | undefined,
  waiting: Waiting | undefined,
  kind: ContainerSpec['kind'],
  facts: ContainerStatusFacts,
): ContainerStateJson {
  if (newest?.state === 'running') return { running: { startedAt: formatTime(newest.startedAtNanos) } }
  if (waiting !== undefined)
    return {
      waiting: { reason: waiting.reason, ...(waiting.message === '' ? {} : { message: waiting.message }) },
    }
  if (newest?.state === 'exited') return { terminated: terminated(newest, facts.runtimeName) }
  if (newest?.state === 'unknown')
    return {
      waiting: {
        reason: 'ContainerStatusUnknown',
        message: 'the runtime does not know the state of the container',
      },
    }
  const isHeldByInit = facts.initializing && kind === 'app'
  return {
    waiting: {
      reason:
        isHeldByInit || (kind !== 'app' && newest === undefined) ? 'PodInitializing' : 'ContainerCreating',
    },
  }
}

const terminated = (c: ObservedContainer, runtimeName: string): TerminatedJson => ({
  exitCode: c.exitCode,
  reason: c.reason === '' ? (c.exitCode === 0 ? 'Completed' : 'Error') : c.reason,
  ...(c.message === '' ? {} : { message: c.message }),
  startedAt: c.startedAtNanos === 0n ? null : formatTime(c.startedAtNanos),
  finishedAt: c.finishedAtNanos === 0n ? null : formatTime(c.finishedAtNanos),
  containerID: idOf(c, runtimeName),
})

const idOf = ({ id }: ObservedContainer, runtimeName: string): string => `${runtimeName}://${id}`
