// The conditions of the Node and the events that their changes are. Reasons and messages are upstream's: people and
// programs search for them.
import type { NodeCondition } from '../../../core/kube/objects.js'

export interface Pressure {
  readonly memory: boolean
  readonly disk: boolean
  readonly pid: boolean
}

interface ConditionFacts {
  readonly before: readonly NodeCondition[]
  readonly pressure: Pressure
  /** What keeps pods from running here; none: the node is ready. */
  readonly problems: readonly string[]
  /** RFC 3339 */
  readonly now: string
}

interface ConditionDecision {
  readonly conditions: readonly NodeCondition[]
  /** Reasons of events, in order. */
  readonly events: readonly string[]
}

interface Wording {
  readonly reason: string
  readonly message: string
  readonly event: string
}

const pressures: readonly {
  readonly type: string
  readonly of: keyof Pressure
  readonly no: Wording
  readonly yes: Wording
}[] = [
  {
    type: 'MemoryPressure',
    of: 'memory',
    no: {
      reason: 'KubeletHasSufficientMemory',
      message: 'kubelet has sufficient memory available',
      event: 'NodeHasSufficientMemory',
    },
    yes: {
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
      event: 'NodeHasInsufficientMemory',
    },
  },
  {
    type: 'DiskPressure',
    of: 'disk',
    no: {
      reason: 'KubeletHasNoDiskPressure',
      message: 'kubelet has no disk pressure',
      event: 'NodeHasNoDiskPressure',
    },
    yes: {
      reason: 'KubeletHasDiskPressure',
      message: 'kubelet has disk pressure',
      event: 'NodeHasDiskPressure',
    },
  },
  {
    type: 'PIDPressure',
    of: 'pid',
    no: {
      reason: 'KubeletHasSufficientPID',
      message: 'kubelet has sufficient PID available',
      event: 'NodeHasSufficientPID',
    },
    yes: {
      reason: 'KubeletHasInsufficientPID',
      message: 'kubelet has insufficient PID available',
      event: 'NodeHasInsufficientPID',
    },
  },
]

const textOfStatus = (on: boolean): string => (on ? 'True' : 'False')

/** Conditions of others are kept as they are; Ready stays the last of ours. */
export function decideConditions({ before, pressure, problems, now }: ConditionFacts): ConditionDecision {
  const events: string[] = []
  const known = (type: string): NodeCondition | undefined => before.find((c) => c.type === type)
  const ours = pressures.map(({ type, of, no, yes }): NodeCondition => {
    const was = known(type)
    const status = textOfStatus(pressure[of])
    const { reason, message, event } = pressure[of] ? yes : no
    if (was?.status === status) return { ...was, lastHeartbeatTime: now }
    events.push(event)
    return { type, status, lastHeartbeatTime: now, lastTransitionTime: now, reason, message }
  })
  const ready = decideReady(known('Ready'), problems, now)
  // A new Node that is not ready yet has not changed.
  const readyBefore = known('Ready')?.status ?? 'False'
  if (readyBefore !== ready.status) events.push(ready.status === 'True' ? 'NodeReady' : 'NodeNotReady')
  const mine = new Map([...ours, ready].map((c) => [c.type, c]))
  const kept = before.map((c) => mine.get(c.type) ?? c)
  const added = [...ours, ready].filter((c) => known(c.type) === undefined)
  return { conditions: [...kept, ...added], events }
}

function decideReady(
  was: NodeCondition | undefined,
  problems: readonly string[],
  now: string,
): NodeCondition {
  const status = textOfStatus(problems.length === 0)
  return {
    type: 'Ready',
    status,
    lastHeartbeatTime: now,
    lastTransitionTime: was?.status === status ? (was.lastTransitionTime ?? now) : now,
    reason: problems.length === 0 ? 'KubeletReady' : 'KubeletNotReady',
    message: problems.length === 0 ? 'kubelet is posting ready status' : joinProblems(problems),
  }
}

/** One error as it is, several in brackets: as upstream prints its aggregated errors. */
const joinProblems = (problems: readonly string[]): string => {
  const unique = [...new Set(problems)]
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`
}
