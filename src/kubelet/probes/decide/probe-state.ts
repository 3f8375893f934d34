// What one probe of one container has found so far, and when it is to run. Pure; prober.ts keeps the states and the time.
import type { Probe, ProbeType } from '../../../core/pod/spec/handlers.js'

type ProbeResult = 'success' | 'failure'

export interface ProbeState {
  /** The instance that the rest is about; empty before the first one. */
  readonly containerId: string
  /**
   * What counts for the pod. Undefined: nothing is known yet, be it that a startup probe has not passed or that the
   * container ran before this kubelet did.
   */
  readonly result: ProbeResult | undefined
  /** True: what this kubelet's predecessor knew of the container counts until the first result. */
  readonly inherited: boolean
  readonly last: ProbeResult | undefined
  /** How often `last` came in a row. */
  readonly run: number
  /** No more probes until there is another instance. */
  readonly onHold: boolean
}

export const noContainer: ProbeState = {
  containerId: '',
  result: undefined,
  inherited: false,
  last: undefined,
  run: 0,
  onHold: false,
}

const initialResults: Readonly<Record<ProbeType, ProbeResult | undefined>> = {
  startup: undefined,
  readiness: 'failure',
  liveness: 'success',
}

/** `inherited`: it was running well before this kubelet started. */
export const meetContainer = (type: ProbeType, containerId: string, inherited: boolean): ProbeState => ({
  ...noContainer,
  containerId,
  inherited,
  result: inherited ? undefined : initialResults[type],
})

/** A result counts when it came as often in a row as its threshold asks for. */
export function takeResult(
  state: ProbeState,
  type: ProbeType,
  { successThreshold, failureThreshold }: Pick<Probe, 'successThreshold' | 'failureThreshold'>,
  result: ProbeResult,
): ProbeState {
  const run = state.last === result ? state.run + 1 : 1
  const counted = { ...state, last: result, run }
  if (run < (result === 'success' ? successThreshold : failureThreshold)) return counted
  // Its verdict is given: a container that is about to be killed is not probed, and one that has started has started.
  const onHold = type === 'startup' || (type === 'liveness' && result === 'failure')
  return { ...counted, result, inherited: false, onHold, run: onHold ? 0 : run }
}

interface ProbeMoment {
  readonly type: ProbeType
  readonly initialDelaySeconds: number
  readonly onHold: boolean
  /** Whether the container runs, and for how long. */
  readonly runningNanos: bigint | undefined
  /** By its startup probe, or because it has none. */
  readonly started: boolean
}

export function isProbeDue(i: ProbeMoment): boolean {
  if (i.onHold || i.runningNanos === undefined) return false
  if (i.runningNanos / 1_000_000_000n < BigInt(i.initialDelaySeconds)) return false
  return i.type === 'startup' ? !i.started : i.started
}
