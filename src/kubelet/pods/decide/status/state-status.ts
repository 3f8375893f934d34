// The status in a worker's state, found anew from the rest of the state. Pure.
import { isEqualJson } from '../../../../core/kube/strategic-merge.js'
import type { PodStatus } from '../../../../core/pod/status-json.js'
import { isStartCutOff } from '../observed.js'
import type { PodState } from '../pod-state.js'
import { reportedStatus } from './reported-status.js'
import { podStatus, rejectedStatus } from './status.js'

interface StatusFacts {
  readonly hostIPs: readonly string[]
  readonly runtimeName: string
  /** By the wall clock. */
  readonly nowNanos: bigint
}

export function withStatus(state: PodState, { hostIPs, runtimeName, nowNanos }: StatusFacts): PodState {
  const { spec, verdict, api, observed } = state
  const generation = api?.metadata?.generation
  // After a restart of the kubelet the API server alone knows what was reported before.
  const before = state.status ?? reportedStatus(api)
  if (verdict?.rejected === true)
    return withSameStatus(state, rejectedStatus({ spec, verdict, generation, before, nowNanos }))
  if (spec === undefined) return state
  const status = podStatus({
    ...state,
    spec,
    // It never ran and is removed at once: to report its end would make its next start a restart.
    observed: { ...observed, containers: observed.containers.filter((c) => !isStartCutOff(c)) },
    sandboxProblem: state.holds.get('')?.message,
    hostIPs,
    runtimeName,
    // As upstream: what was not reported began when this kubelet first saw it.
    startedAtNanos: state.firstSeenNanos,
    nowNanos,
    before,
    generation,
    fromApi: api !== undefined,
    foreign: reportedStatus(api)?.conditions ?? [],
    isDeleted: api?.metadata?.deletionTimestamp !== undefined,
    over: api !== undefined && state.stopped && state.life.phase === 'terminating',
  })
  return withSameStatus(state, status)
}

/** The same object as long as it says the same: who sends it sees at once that there is nothing to send. */
const withSameStatus = (state: PodState, status: PodStatus): PodState =>
  state.status !== undefined && isEqualJson(state.status, status) ? state : { ...state, status }
