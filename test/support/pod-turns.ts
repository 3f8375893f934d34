// A turn of a pod in a test: an input with everything unsaid at rest, and actions as short words.

import type { PodAction, PodTurnInput } from '../../src/kubelet/pods/decide/actions.js'
import type { ObservedContainer, ObservedPod } from '../../src/kubelet/pods/decide/observed.js'
import { decidePodTurn } from '../../src/kubelet/pods/decide/turn.js'
import { container, exited, image, second, specOf } from './pod-manifest.js'

export const now = 10_000n * second

/** One clock for all in a test. */
export const endsOf = ({ containers }: ObservedPod): ReadonlyMap<string, bigint> =>
  new Map(containers.filter((c) => c.state === 'exited').map((c) => [c.id, c.finishedAtNanos]))

export const input = (spec: object, seen: ObservedPod, more: Partial<PodTurnInput> = {}): PodTurnInput => ({
  spec: specOf({ ...spec }),
  observed: seen,
  ending: undefined,
  backoffs: new Map(),
  holds: new Map(),
  prepared: true,
  released: false,
  resize: false,
  endedAt: endsOf(seen),
  nowNanos: now,
  ...more,
})

/** `start app#1`, `stop app#0+b#0 5s`: one short word for each action. */
function brief(action: PodAction): string {
  switch (action.kind) {
    case 'run-sandbox':
      return `sandbox#${action.attempt}`
    case 'start-container':
      return `start ${action.name}#${action.attempt}`
    case 'start-created':
      return `start-created ${action.id}`
    case 'stop-containers':
      return `stop ${action.targets.map((t) => t.id).join('+')} ${action.graceSeconds}s`
    case 'stop-sandbox':
    case 'remove-container':
    case 'remove-sandbox':
      return `${action.kind} ${action.id}`
    default:
      return action.kind
  }
}
export const actionsOf = (i: PodTurnInput): string[] => decidePodTurn(i).actions.map(brief)

export const init = (name: string, more: Partial<ObservedContainer> = {}) =>
  container({ name, kind: 'init', ...more })
export const side = (name: string, more: Partial<ObservedContainer> = {}) =>
  container({ name, kind: 'sidecar', ...more })
export const done = (name: string) => exited(name, 0, { kind: 'init' })

export const one = {}
export const withInit = {
  initContainers: [
    { name: 'i1', image },
    { name: 'i2', image },
  ],
}
export const withSidecar = {
  initContainers: [
    { name: 'i1', image },
    { name: 's1', image, restartPolicy: 'Always' },
    { name: 'i2', image },
    { name: 's2', image, restartPolicy: 'Always' },
  ],
}
export const two = {
  containers: [
    { name: 'a', image },
    { name: 'b', image },
  ],
}
export const never = { restartPolicy: 'Never' }
export const onFailure = { restartPolicy: 'OnFailure' }
