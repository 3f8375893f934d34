// The end of a pod: app containers together, then sidecars in the reverse order of the spec, within one grace period; then
// the sandbox; then everything else of it.
import type { PodSpec } from '../../../core/pod/spec/spec.js'
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
  const [stop] = planStop(observed.containers.filter(isAlive), rest, 'the pod terminates', i.spec)
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

/** One action, or none: whoever carries it out keeps the order of its targets. */
export function planStop(
  alive: readonly ObservedContainer[],
  graceSeconds: number,
  why: string,
  spec?: PodSpec,
): readonly PodAction[] {
  if (alive.length === 0) return []
  const main = alive.filter((container) => container.kind !== 'sidecar')
  const place = ({ name }: ObservedContainer): number =>
    spec?.initContainers.findIndex((container) => container.name === name) ?? -1
  // Without the spec the newest is the last one.
  const sidecars = alive
    .filter((container) => container.kind === 'sidecar')
    .toSorted((a, b) => place(b) - place(a) || (a.startedAtNanos < b.startedAtNanos ? 1 : -1))
  return [stopTogether([...main, ...sidecars], graceSeconds, why)]
}
