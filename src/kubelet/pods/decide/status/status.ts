// The status of a pod as the Kubernetes API shows it: phase, conditions, addresses and the state of each container,
// from what the runtime knows and what this node waits for.

import { qosClassOf } from '../../../../core/pod/qos-class.js'
import type { PodSpec } from '../../../../core/pod/spec/spec.js'
import type { ContainerStatusJson, Phase, PodCondition, PodStatus } from '../../../../core/pod/status-json.js'
import { formatTime } from '../../../../core/units/rfc3339.js'
import type { PodHealth } from '../../../probes/decide/health.js'
import type { Waiting } from '../actions.js'
import { currentSandbox, isAlive, newestOf, type ObservedPod } from '../observed.js'
import type { Verdict } from '../pod-state.js'
import { mayRestartAll, restartAllSources } from '../restart-rules.js'
import { isTerminalPhase } from '../wanted-pod.js'
import { containerStatus, runningHealth, unknownEnd } from './container-status.js'
import { finalPhase } from './phase.js'
import { gateProblem } from './readiness-gates.js'

export interface PodStatusInput {
  readonly spec: PodSpec
  readonly observed: ObservedPod
  readonly waiting: ReadonlyMap<string, Waiting>
  /** Conditions as the API server has them; readiness gates are among them. */
  readonly foreign?: readonly PodCondition[]
  /** What probes say of running containers, by id. */
  readonly health?: PodHealth
  /** What keeps the sandbox from being made. */
  readonly sandboxProblem: string | undefined
  readonly hostIPs: readonly string[]
  readonly startedAtNanos: bigint
  readonly runtimeName: string
  readonly nowNanos: bigint
  /** The status before this one, of an earlier life of the kubelet too: what stays keeps its time, and no phase goes back. */
  readonly before: Partial<PodStatus> | undefined
  /** metadata.generation; static pods have none. */
  readonly generation?: number | undefined
  readonly verdict?: Verdict | undefined
  /** The API server has the pod: its events are seen there. */
  readonly fromApi?: boolean
  /** The API server has a deletionTimestamp. */
  readonly isDeleted?: boolean
  /** The pod was ended and nothing of it runs: every container has an end, known or not, and the phase is final. */
  readonly over?: boolean
}

export function podStatus(i: PodStatusInput): PodStatus {
  const { spec, observed, before } = i
  const sandbox = currentSandbox(observed)
  const initialized =
    sandbox !== undefined && spec.containers.some((c) => newestOf(observed, c.name)?.sandboxId === sandbox.id)
  const facts = {
    ...i,
    initializing: spec.initContainers.length > 0 && !initialized && !initsDone(i),
  }
  const init = withEnds(
    spec.initContainers.map((c) =>
      containerStatus(c, { ...facts, before: statusNamed(before?.initContainerStatuses, c.name) }),
    ),
    i.over === true && !facts.initializing,
  )
  const app = withEnds(
    spec.containers.map((c) =>
      containerStatus(c, { ...facts, before: statusNamed(before?.containerStatuses, c.name) }),
    ),
    i.over === true && (spec.initContainers.length === 0 || !facts.initializing),
  )
  const ephemeral = withEnds(
    spec.ephemeralContainers.map((c) =>
      containerStatus(c, { ...facts, before: statusNamed(before?.ephemeralContainerStatuses, c.name) }),
    ),
    i.over === true,
  )
  const phase = phaseOf(i, facts.initializing, app)
  const ips = spec.hostNetwork ? i.hostIPs : (sandbox?.ips ?? before?.podIPs?.map(({ ip }) => ip) ?? [])
  return {
    ...(i.generation === undefined ? {} : { observedGeneration: i.generation }),
    phase,
    conditions: conditions(i, phase, facts.initializing, init, app),
    ...reasonOf(i, phase),
    ...(i.hostIPs[0] === undefined ? {} : { hostIP: i.hostIPs[0], hostIPs: i.hostIPs.map((ip) => ({ ip })) }),
    ...(ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    startTime: before?.startTime ?? formatTime(i.startedAtNanos),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: app.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
    qosClass: qosClassOf(spec.pod),
  }
}

interface RejectedInput {
  readonly spec: PodSpec | undefined
  readonly verdict: Verdict
  readonly generation: number | undefined
  readonly before: Partial<PodStatus> | undefined
  readonly nowNanos: bigint
}

/** Of a pod that this node did not admit. */
export const rejectedStatus = (i: RejectedInput): PodStatus => ({
  ...(i.generation === undefined ? {} : { observedGeneration: i.generation }),
  phase: 'Failed',
  conditions: [],
  reason: i.verdict.reason,
  message: `Pod was rejected: ${i.verdict.message}`,
  startTime: i.before?.startTime ?? formatTime(i.nowNanos),
  containerStatuses: [],
  qosClass: i.before?.qosClass ?? (i.spec === undefined ? 'BestEffort' : qosClassOf(i.spec.pod)),
})

const statusNamed = (
  list: readonly ContainerStatusJson[] | undefined,
  name: string,
): ContainerStatusJson | undefined => list?.find((c) => c.name === name)

/** A container of a pod that is over has ended, seen or not. */
const withEnds = (list: readonly ContainerStatusJson[], over: boolean): readonly ContainerStatusJson[] =>
  over
    ? list.map((c) =>
        c.state.terminated === undefined
          ? {
              ...c,
              ready: false,
              started: false,
              state: {
                terminated: unknownEnd('The container could not be located when the pod was terminated'),
              },
            }
          : c,
      )
    : list

function reasonOf(i: PodStatusInput, phase: Phase): { readonly reason?: string; readonly message?: string } {
  if (i.verdict !== undefined && phase === 'Failed')
    return { reason: i.verdict.reason, message: i.verdict.message }
  // An event tells it of a pod of the API server; a static pod has only its status.
  if (i.sandboxProblem !== undefined && i.fromApi !== true)
    return { message: i.sandboxProblem, reason: 'FailedCreatePodSandBox' }
  const { before } = i
  if (before?.phase !== phase || !isTerminalPhase(phase)) return {}
  return {
    ...(before.reason === undefined ? {} : { reason: before.reason }),
    ...(before.message === undefined ? {} : { message: before.message }),
  }
}

const initsDone = ({ spec, observed, health }: PodStatusInput): boolean =>
  spec.initContainers.every((container) => {
    const newest = newestOf(observed, container.name)
    return container.kind === 'sidecar'
      ? runningHealth(container, newest, health).started
      : newest?.state === 'exited' && newest.exitCode === 0
  })

const endedWell = (app: readonly ContainerStatusJson[]): boolean =>
  app.length > 0 && app.every((c) => c.state.terminated?.exitCode === 0)

function phaseOf(
  { spec, observed, before, verdict, over }: PodStatusInput,
  initializing: boolean,
  app: readonly ContainerStatusJson[],
): Phase {
  // As upstream: of a pod that is evicted, preempted or shut down the exit statuses have the last word.
  if (verdict !== undefined && verdict.isFinal !== true && endedWell(app)) return 'Succeeded'
  if (isTerminalPhase(before?.phase)) return before.phase
  if (verdict !== undefined) return 'Failed'
  const final = finalPhase(spec, observed)
  // Sidecars are still being stopped: the pod is over when nothing of it runs.
  if (final !== undefined && !observed.containers.some(isAlive)) return final
  if (over === true) return endedWell(app) ? 'Succeeded' : 'Failed'
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
  const noSandbox = sandboxProblem(i)
  const make = (
    type: string,
    problem: { readonly reason?: string; readonly message?: string } | undefined,
  ): PodCondition => {
    const status = problem === undefined ? 'True' : 'False'
    const before = i.before?.conditions?.find((c) => c.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(i.nowNanos)
    // Upstream says that a finished pod was initialized for the same reason that it is not ready.
    const completed = over && type === 'Initialized' ? { reason: 'PodCompleted' } : {}
    return {
      type,
      status,
      ...(i.generation === undefined ? {} : { observedGeneration: i.generation }),
      lastProbeTime: null,
      lastTransitionTime,
      ...completed,
      ...problem,
    }
  }
  const containersReady = phase === 'Failed' ? { reason: 'PodFailed' } : notReady
  const verdicts = (i.verdict?.conditions ?? []).map(
    ({ type, status, reason, message }): PodCondition => ({
      ...make(type, undefined),
      status,
      reason,
      message,
    }),
  )
  return [
    ...verdicts,
    make('PodReadyToStartContainers', noSandbox),
    make('Initialized', notInitialized),
    make('Ready', containersReady ?? gateProblem(i.spec.readinessGates, i.foreign ?? [])),
    make('ContainersReady', containersReady),
    make('PodScheduled', undefined),
    ...(mayRestartAll(i.spec) ? [restartingAll(i, phase, make('AllContainersRestarting', {}))] : []),
  ]
}

/** Containers cannot be started: there is no sandbox, or it has no network. */
function sandboxProblem({ spec, observed }: PodStatusInput) {
  const [newest] = observed.sandboxes
  const message =
    newest === undefined
      ? 'no pod sandbox exists'
      : !newest.ready
        ? 'pod sandbox is not ready'
        : !spec.hostNetwork && newest.ips.length === 0
          ? 'pod sandbox has no IP address'
          : undefined
  return message === undefined ? undefined : { reason: 'PodSandboxNotReady', message }
}

function restartingAll({ spec, observed }: PodStatusInput, phase: Phase, idle: PodCondition): PodCondition {
  if (isTerminalPhase(phase)) return { ...idle, reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
  if (restartAllSources(spec, observed).length === 0) return idle
  const message = 'container exited with restart policy rule'
  return { ...idle, status: 'True', reason: 'RestartAllContainersStarted', message }
}

const isSidecar = (spec: PodSpec, name: string): boolean =>
  spec.initContainers.some((c) => c.name === name && c.kind === 'sidecar')
