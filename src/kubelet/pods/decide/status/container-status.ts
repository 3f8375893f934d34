// The status of one container as the Kubernetes API shows it.

import { isFullReference } from '../../../../core/pod/spec/image-reference.js'
import type { ContainerSpec, PodSpec } from '../../../../core/pod/spec/spec.js'
import type {
  ContainerStateJson,
  ContainerStatusJson,
  TerminatedJson,
  VolumeMountStatusJson,
} from '../../../../core/pod/status-json.js'
import { formatTime } from '../../../../core/units/rfc3339.js'
import { type ContainerHealth, type PodHealth, unprobed } from '../../../probes/decide/health.js'
import type { Waiting } from '../actions.js'
import { containerHash } from '../container-hash.js'
import { currentSandbox, newestOf, type ObservedContainer, type ObservedPod } from '../observed.js'

type Fields = Readonly<Record<string, unknown>>

interface ContainerStatusFacts {
  readonly observed: ObservedPod
  readonly waiting: ReadonlyMap<string, Waiting>
  readonly initializing: boolean
  /** What probes say of running containers, by id. */
  readonly health?: PodHealth
  /** `containerd` in `containerd://0123`. */
  readonly runtimeName: string
  /** Undefined: nothing was reported of it. */
  readonly before?: ContainerStatusJson | undefined
  readonly isDeleted?: boolean
  readonly spec: PodSpec
}

export function containerStatus(container: ContainerSpec, facts: ContainerStatusFacts): ContainerStatusJson {
  const { name, kind } = container
  const { before: reported } = facts
  const newest = newestOf(facts.observed, name)
  // The runtime has forgotten it: how it ended was reported, and stays.
  if (newest === undefined && reported?.state.terminated !== undefined && !facts.waiting.has(name))
    return reported
  const waiting = facts.waiting.get(name)
  const state = stateOf(newest, waiting, kind, facts)
  const health = runningHealth(container, newest, facts.health)
  return {
    name,
    state,
    lastState: lastStateOf(newest, state, name, facts),
    ready: kind === 'init' ? state.terminated?.exitCode === 0 : health.ready && kind !== 'ephemeral',
    restartCount: newest?.attempt ?? restartsOf(facts),
    image: imageOf(container, newest),
    imageID: newest?.imageId ?? '',
    ...(newest === undefined ? {} : { containerID: idOf(newest, facts.runtimeName) }),
    started: health.started,
    ...definitionOf(name, kind, newest, facts.spec),
    ...userOf(newest),
  }
}

const lists: Readonly<Record<ContainerSpec['kind'], string>> = {
  init: 'initContainers',
  sidecar: 'initContainers',
  app: 'containers',
  ephemeral: 'ephemeralContainers',
}

/** A runtime names an image by any of its tags: the one that the container was created with is the one to show. */
function imageOf(container: ContainerSpec, newest: ObservedContainer | undefined): string {
  const { image } = container
  if (newest === undefined || newest.image === '') return image
  return isFullReference(image) && newest.hash === containerHash(container) ? image : newest.image
}

/** What the pod says of the container, as the API shows it beside what runs. */
function definitionOf(
  name: string,
  kind: ContainerSpec['kind'],
  newest: ObservedContainer | undefined,
  spec: PodSpec,
) {
  const list = spec.document.spec[lists[kind]] as readonly Fields[] | undefined
  const written = list?.find((c) => c['name'] === name) ?? {}
  const resources = (written['resources'] ?? {}) as Fields
  const requests = resources['requests'] as Fields | undefined
  const mounts = (written['volumeMounts'] ?? []) as readonly Fields[]
  return {
    ...(newest !== undefined
      ? { ...(requests === undefined ? {} : { allocatedResources: requests }), resources }
      : {}),
    ...(mounts.length === 0
      ? {}
      : { volumeMounts: mounts.map((mount) => mountStatus(mount, newest?.recursiveReadOnly ?? [])) }),
  }
}

/** With `recursiveReadOnly: IfPossible` only the runtime knows whether it was. */
function mountStatus(mount: Fields, recursive: readonly string[]): VolumeMountStatusJson {
  const mountPath = String(mount['mountPath'])
  const recursiveReadOnly = recursive.includes(mountPath) ? 'Enabled' : 'Disabled'
  return {
    name: String(mount['name']),
    mountPath,
    ...(mount['readOnly'] === true ? { readOnly: true, recursiveReadOnly } : {}),
  }
}

function userOf(newest: ObservedContainer | undefined): Pick<ContainerStatusJson, 'user'> {
  if (newest?.user === undefined) return {}
  const { uid, gid, supplementalGroups } = newest.user
  const groups = supplementalGroups.map(Number)
  return {
    user: {
      linux: {
        uid: Number(uid),
        gid: Number(gid),
        ...(groups.length === 0 ? {} : { supplementalGroups: groups }),
      },
    },
  }
}

function lastStateOf(
  newest: ObservedContainer | undefined,
  state: ContainerStateJson,
  name: string,
  facts: ContainerStatusFacts,
): ContainerStateJson {
  const { before: reported, runtimeName } = facts
  if (newest === undefined) {
    if (reported?.state.running !== undefined)
      return {
        terminated: unknownEnd(
          'The container could not be located when the pod was deleted.  The container used to be Running',
        ),
      }
    return reported?.lastState ?? {}
  }
  // A wait puts the instance that ended into the past.
  const isPast = newest.state === 'exited' && state.waiting !== undefined
  const before = isPast
    ? newest
    : facts.observed.containers.find((c) => c.name === name && c.state === 'exited' && c.id !== newest.id)
  if (before !== undefined) return { terminated: terminated(before, runtimeName) }
  // Its predecessor was removed from the runtime: what was reported of it is all that is left.
  if (newest.attempt === 0 || reported === undefined) return {}
  const isOther = reported.containerID !== idOf(newest, runtimeName)
  return isOther && reported.state.terminated !== undefined ? reported.state : reported.lastState
}

/** Of a container that the runtime does not have: as reported, and one more if it has vanished while it ran. */
function restartsOf({ before, isDeleted }: ContainerStatusFacts): number {
  const count = before?.restartCount ?? 0
  return before?.state.running !== undefined && isDeleted !== true ? count + 1 : count
}

/** How it ended cannot be known. */
export const unknownEnd = (message: string): TerminatedJson => ({
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message,
  startedAt: null,
  finishedAt: null,
})

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
  if (newest === undefined && kind === 'init' && isInitialized(facts.observed))
    return { terminated: forgottenInit }
  const isHeldByInit = facts.initializing && kind === 'app'
  return {
    waiting: {
      reason:
        isHeldByInit || ((kind === 'init' || kind === 'sidecar') && newest === undefined)
          ? 'PodInitializing'
          : 'ContainerCreating',
    },
  }
}

/** App containers are created only when every init container has completed. */
function isInitialized(observed: ObservedPod): boolean {
  const sandbox = currentSandbox(observed)?.id
  return observed.containers.some((c) => c.kind === 'app' && c.sandboxId === sandbox)
}

/** It was removed from the runtime, and a kubelet that was restarted knows no more of it. Upstream's words. */
const forgottenInit: TerminatedJson = {
  exitCode: 0,
  reason: 'Completed',
  message:
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  startedAt: null,
  finishedAt: null,
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
