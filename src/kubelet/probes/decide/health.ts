// What the probes of a container say together: whether it has started, whether it is ready, whether it must be killed.
import type { Probes } from '../../../core/pod/spec/handlers.js'
import type { ProbeState } from './probe-state.js'

export interface ContainerHealth {
  readonly started: boolean
  readonly ready: boolean
  /** The probe that wants the container to be killed. */
  readonly failed: 'startup' | 'liveness' | undefined
}

/** Of containers with probes, by container id. */
export type PodHealth = ReadonlyMap<string, ContainerHealth>

export interface KnownBefore {
  readonly started: boolean
  readonly ready: boolean
}

type States = Readonly<Partial<Record<keyof Probes, ProbeState>>>

/** `before`: what the API had of a container that ran before this kubelet did. */
export function containerHealth(states: States, before: KnownBefore | undefined): ContainerHealth {
  const { startup, readiness, liveness } = states
  const started = holds(startup, before?.started)
  return {
    started,
    ready: started && holds(readiness, before?.ready),
    failed:
      liveness?.result === 'failure' ? 'liveness' : startup?.result === 'failure' ? 'startup' : undefined,
  }
}

/** Without a probe it holds. */
function holds(state: ProbeState | undefined, before: boolean | undefined): boolean {
  if (state === undefined) return true
  return state.inherited ? (before ?? false) : state.result === 'success'
}

/** Of a container of which nothing was probed yet. */
export const unprobed = (probes: Probes): ContainerHealth => ({
  started: probes.startup === undefined,
  ready: probes.startup === undefined && probes.readiness === undefined,
  failed: undefined,
})
