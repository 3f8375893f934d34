// A runtime without time: carries out the actions of a pod's turns at once, ends containers when asked to, and so
// takes a pod through a whole life in a loop. For properties that must hold for every manifest.

import { allContainerSpecs, type PodSpec } from '../../src/core/pod/spec/spec.js'
import type { PodAction, PodTurnInput } from '../../src/kubelet/pods/decide/actions.js'
import {
  newestFirst,
  type ObservedContainer,
  type ObservedPod,
} from '../../src/kubelet/pods/decide/observed.js'
import { type Backoff, nextBackoff } from '../../src/kubelet/pods/decide/restart-backoff.js'
import { decidePodTurn } from '../../src/kubelet/pods/decide/turn.js'
import { endsOf } from './pod-turns.js'

const second = 1_000_000_000n

export interface Life {
  readonly observed: ObservedPod
  readonly nowNanos: bigint
  /** Whether a turn without actions came. */
  readonly settled: boolean
  readonly actions: readonly PodAction[]
}

interface World {
  sandboxes: ObservedPod['sandboxes']
  containers: readonly ObservedContainer[]
  backoffs: Map<string, Backoff>
  released: boolean
  forgotten: boolean
  nowNanos: bigint
}

/** Init containers end well at once; app containers stay. */
export function liveThrough(spec: PodSpec, maxTurns: number): Life {
  const world: World = {
    sandboxes: [],
    containers: [],
    backoffs: new Map(),
    released: false,
    forgotten: false,
    nowNanos: 1_000n * second,
  }
  const actions: PodAction[] = []
  for (let i = 0; i < maxTurns; i += 1) {
    const turn = decidePodTurn(inputOf(spec, world))
    actions.push(...turn.actions)
    if (turn.actions.length === 0) {
      const hasRunningInit = world.containers.some((c) => c.kind === 'init' && c.state === 'running')
      if (!hasRunningInit && turn.wakeAtNanos === undefined)
        return { observed: observedOf(spec, world), nowNanos: world.nowNanos, settled: true, actions }
      world.nowNanos = turn.wakeAtNanos ?? world.nowNanos + second
      world.containers = world.containers.map((c) =>
        c.kind === 'init' && c.state === 'running'
          ? { ...c, state: 'exited', finishedAtNanos: world.nowNanos }
          : c,
      )
    }
    for (const action of turn.actions) carryOut(spec, world, action)
    world.nowNanos += second
  }
  return { observed: observedOf(spec, world), nowNanos: world.nowNanos, settled: false, actions }
}

const observedOf = (spec: PodSpec, world: World): ObservedPod => ({
  uid: spec.pod.uid,
  name: spec.pod.name,
  namespace: spec.pod.namespace,
  sandboxes: world.sandboxes,
  containers: world.containers.toSorted(newestFirst),
  graceSeconds: undefined,
})

const inputOf = (spec: PodSpec, world: World): PodTurnInput => ({
  spec,
  observed: observedOf(spec, world),
  ending: undefined,
  backoffs: world.backoffs,
  holds: new Map(),
  prepared: true,
  released: world.released,
  resize: false,
  endedAt: endsOf(observedOf(spec, world)),
  nowNanos: world.nowNanos,
})

function carryOut(spec: PodSpec, world: World, action: PodAction): void {
  const change = (id: string, fields: Partial<ObservedContainer>): void => {
    world.containers = world.containers.map((c) => (c.id === id ? { ...c, ...fields } : c))
  }
  switch (action.kind) {
    case 'run-sandbox': {
      const sandbox = {
        id: `s${action.attempt}`,
        attempt: action.attempt,
        ready: true,
        ips: [],
        createdAtNanos: world.nowNanos,
      }
      world.sandboxes = [sandbox, ...world.sandboxes]
      return
    }
    case 'start-container': {
      const container = allContainerSpecs(spec).find((c) => c.name === action.name)
      if (action.endedAtNanos !== undefined)
        world.backoffs.set(
          action.name,
          nextBackoff(world.backoffs.get(action.name), action.endedAtNanos, world.nowNanos),
        )
      world.containers = [
        ...world.containers,
        {
          id: `${action.name}#${action.attempt}`,
          name: action.name,
          attempt: action.attempt,
          sandboxId: world.sandboxes[0]?.id ?? '',
          state: 'running',
          kind: container?.kind ?? 'app',
          createdAtNanos: world.nowNanos,
          startedAtNanos: world.nowNanos,
          finishedAtNanos: 0n,
          exitCode: 0,
          reason: '',
          message: '',
          image: '',
          imageId: '',
          logPath: '',
          hash: '',
          user: undefined,
          resources: undefined,
        },
      ]
      return
    }
    case 'start-created':
      change(action.id, { state: 'running' })
      return
    case 'stop-containers':
      for (const { id } of action.targets)
        change(id, { state: 'exited', exitCode: 137, finishedAtNanos: world.nowNanos })
      return
    case 'stop-sandbox':
      world.sandboxes = world.sandboxes.map((s) => (s.id === action.id ? { ...s, ready: false } : s))
      return
    case 'remove-container':
      world.containers = world.containers.filter((c) => c.id !== action.id)
      return
    case 'remove-sandbox':
      world.sandboxes = world.sandboxes.filter((s) => s.id !== action.id)
      world.containers = world.containers.filter((c) => c.sandboxId !== action.id)
      return
    case 'release':
      world.released = true
      return
    case 'forget':
      world.forgotten = true
      return
    default:
      return
  }
}
