// The status of a pod as the Kubernetes API shows it: phase, conditions, addresses and the state of each container,
// from what the runtime knows and what this node waits for.

import { qosClassOf } from '../../../core/pod/qos-class.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { ContainerStatusJson, Phase, PodCondition, PodStatus } from '../../../core/pod/status-json.js'
import { formatTime } from '../../../core/units/rfc3339.js'
import type { PodHealth } from '../../probes/decide/health.js'
import type { Waiting } from './actions.js'
import { containerStatus, runningHealth } from './container-status.js'
import { currentSandbox, isAlive, newestOf, type ObservedPod } from './observed.js'
import { finalPhase } from './phase.js'

export interface PodStatusInput {
  readonly spec: PodSpec
  readonly observed: ObservedPod
  readonly waiting: ReadonlyMap<string, Waiting>
  /** What probes say of running containers, by id. */
  readonly health?: PodHealth
  /** What keeps the sandbox from being made. */
  readonly sandboxProblem: string | undefined
  readonly hostIPs: readonly string[]
  readonly startedAtNanos: bigint
  readonly runtimeName: string
  readonly nowNanos: bigint
  /** The status before this one: conditions that stay keep the time of their last change. */
  readonly before: PodStatus | undefined
}

export function podStatus(i: PodStatusInput): PodStatus {
  const { spec, observed } = i
  const sandbox = currentSandbox(observed)
  const initialized =
    sandbox !== undefined && spec.containers.some((c) => newestOf(observed, c.name)?.sandboxId === sandbox.id)
  const facts = {
    ...i,
    initializing: spec.initContainers.length > 0 && !initialized && !initsDone(i),
  }
  const init = spec.initContainers.map((c) => containerStatus(c, facts))
  const app = spec.containers.map((c) => containerStatus(c, facts))
  const phase = phaseOf(spec, observed, facts.initializing, app)
  const ips = spec.hostNetwork ? i.hostIPs : (sandbox?.ips ?? [])
  return {
    phase,
    conditions: conditions(i, phase, facts.initializing, init, app),
    ...(i.sandboxProblem === undefined
      ? {}
      : { message: i.sandboxProblem, reason: 'FailedCreatePodSandBox' }),
    ...(i.hostIPs[0] === undefined ? {} : { hostIP: i.hostIPs[0], hostIPs: i.hostIPs.map((ip) => ({ ip })) }),
    ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    startTime: formatTime(i.startedAtNanos),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: app,
    qosClass: qosClassOf(spec.pod),
  }
}

const initsDone = ({ spec, observed, health }: PodStatusInput): boolean =>
  spec.initContainers.every((container) => {
    const newest = newestOf(observed, container.name)
    return container.kind === 'sidecar'
      ? runningHealth(container, newest, health).started
      : newest?.state === 'exited' && newest.exitCode === 0
  })

function phaseOf(
  spec: PodSpec,
  observed: ObservedPod,
  initializing: boolean,
  app: readonly ContainerStatusJson[],
): Phase {
  const final = finalPhase(spec, observed)
  // Sidecars are still being stopped: the pod is over when nothing of it runs.
  if (final !== undefined && !observed.containers.some(isAlive)) return final
  if (initializing) return 'Pending'
  // A container that waits for its next try counts as having run.
  const never = app.some((c) => c.state.waiting !== undefined && c.lastState.terminated === undefined)
  return never || app.length === 0 ? 'Pending' : 'Running'
}

function conditions(
  i: PodStatusInput,
  phase: Phase,
  initializing: boolean,
  init: readonly ContainerStatusJson[],
  app: readonly ContainerStatusJson[],
): readonly PodCondition[] {
  const unready = [...init.filter((c) => isSidecar(i.spec, c.name)), ...app]
    .filter((c) => !c.ready)
    .map((c) => c.name)
  const incomplete = init.filter((c) => !c.ready).map((c) => c.name)
  const over = phase === 'Succeeded'
  const notReady = over
    ? { reason: 'PodCompleted' }
    : unready.length === 0
      ? undefined
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` }
  const notInitialized = over
    ? undefined
    : initializing
      ? {
          reason: 'ContainersNotInitialized',
          message: `containers with incomplete status: [${incomplete.join(' ')}]`,
        }
      : undefined
  const noSandbox = currentSandbox(i.observed) === undefined ? {} : undefined
  const make = (
    type: string,
    problem: { readonly reason?: string; readonly message?: string } | undefined,
  ): PodCondition => {
    const status = problem === undefined ? 'True' : 'False'
    const before = i.before?.conditions.find((c) => c.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(i.nowNanos)
    // Upstream says that a finished pod was initialized for the same reason that it is not ready.
    const completed = over && type === 'Initialized' ? { reason: 'PodCompleted' } : {}
    return { type, status, lastProbeTime: null, lastTransitionTime, ...completed, ...problem }
  }
  return [
    make('PodReadyToStartContainers', noSandbox),
    make('Initialized', notInitialized),
    make('Ready', phase === 'Failed' ? { reason: 'PodFailed' } : notReady),
    make('ContainersReady', phase === 'Failed' ? { reason: 'PodFailed' } : notReady),
    make('PodScheduled', undefined),
  ]
}

const isSidecar = (spec: PodSpec, name: string): boolean =>
  spec.initContainers.some((c) => c.name === name && c.kind === 'sidecar')
