// What a look at the runtime changes in a worker's state: what is there, when it ended, and how often it was started.
import { isStartCutOff, type ObservedPod } from './observed.js'
import type { PodState } from './pod-state.js'

export function observe(
  state: PodState,
  seen: ObservedPod,
  at: { readonly monotonicNanos: bigint; readonly wallNanos: bigint },
): PodState {
  // A pod that the runtime does not have has no name there either.
  const { name, namespace } = seen.name === '' ? (state.spec?.pod ?? state.observed) : seen
  const containers = seen.containers.map((c) => {
    const killedFor = state.kills.get(c.id)
    return killedFor === undefined ? c : { ...c, killedFor }
  })
  const observed = { ...seen, name, namespace, containers }
  const endedAt = new Map<string, bigint>()
  for (const { id, state: now, finishedAtNanos } of observed.containers) {
    const known = state.endedAt.get(id)
    // The runtime has ends by the wall clock: how long ago is computed once. An end in the future has just happened.
    const ago = at.wallNanos - finishedAtNanos
    if (known !== undefined) endedAt.set(id, known)
    else if (now === 'exited') endedAt.set(id, at.monotonicNanos - (ago > 0n ? ago : 0n))
  }
  const attempts = new Map(state.attempts)
  for (const container of observed.containers) {
    const { name: of, attempt } = container
    // What never ran is started again with the same number; a start under way may still be cut off.
    if (container.state !== 'created' && !isStartCutOff(container))
      attempts.set(of, Math.max(attempt, attempts.get(of) ?? 0))
  }
  return { ...state, observed, endedAt, attempts }
}
