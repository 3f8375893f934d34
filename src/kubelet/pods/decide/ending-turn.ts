// The end of a pod: app containers together, then sidecars in the reverse order of their start, within one grace period;
// then the sandbox; then everything else of it.
import { onlyActions, type PodAction, type PodTurn, type PodTurnInput, stopTogether } from './actions.js'
import { isAlive, type ObservedContainer } from './observed.js'

const second = 1_000_000_000n
/** A sidecar whose turn comes when the time is over still gets to close its files. */
const leastGraceSeconds = 2

export function planEnding(i: PodTurnInput): PodTurn {
  const { observed } = i
  const grace = i.ending?.graceSeconds ?? observed.graceSeconds ?? 30
  const passed = i.ending === undefined ? 0n : (i.nowNanos - i.ending.sinceNanos) / second
  const rest = grace === 0 ? 0 : Math.max(Math.min(leastGraceSeconds, grace), grace - Number(passed))
  const [stop] = planStop(observed.containers.filter(isAlive), rest, 'the pod terminates')
  if (stop !== undefined) return onlyActions([stop])
  const ready = observed.sandboxes.filter((sandbox) => sandbox.ready)
  if (ready.length > 0) return onlyActions(ready.map(({ id }) => ({ kind: 'stop-sandbox', id })))
  // Its object in the API server, or its manifest, is still there: so are its status and its logs.
  if (i.wanted === true) return { ...onlyActions(i.released ? [] : [{ kind: 'release' }]), stopped: true }
  const remove = onlyActions([
    // Stopped once more: a sandbox that died by itself has network that only stopping it gives back.
    ...observed.sandboxes.flatMap(({ id }): PodAction[] => [
      { kind: 'stop-sandbox', id },
      { kind: 'remove-sandbox', id },
    ]),
    { kind: 'forget' },
  ])
  return { ...remove, stopped: true }
}

/** Stages, each to be over before the next begins. */
export function planStop(
  alive: readonly ObservedContainer[],
  graceSeconds: number,
  why: string,
): readonly PodAction[] {
  const stage = (containers: readonly ObservedContainer[]): PodAction =>
    stopTogether(containers, graceSeconds, why)
  const main = alive.filter((container) => container.kind !== 'sidecar')
  // Newest first is the reverse order of their start.
  const sidecars = alive
    .filter((container) => container.kind === 'sidecar')
    .toSorted((a, b) => (a.startedAtNanos < b.startedAtNanos ? 1 : -1))
  return [...(main.length === 0 ? [] : [stage(main)]), ...sidecars.map((one) => stage([one]))]
}
