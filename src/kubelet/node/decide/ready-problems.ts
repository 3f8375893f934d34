// What keeps the node from being ready, in upstream's words.
import type { RuntimeCondition } from '../../../cri-api/api.js'

export interface RuntimeSeen {
  /** Age of the last healthy answer; undefined: none yet. */
  readonly healthyAgoMs: number | undefined
  /** Conditions of the last answer; undefined: none yet. */
  readonly conditions: readonly Pick<RuntimeCondition, 'type' | 'status' | 'reason' | 'message'>[] | undefined
}

/** Not seen for so long: it is down. */
const runtimeDownMs = 30_000

interface ReadyFacts {
  readonly runtime: RuntimeSeen
  /** Health checks that fail, such as `PLEG is not healthy: ...`. */
  readonly unhealthy: readonly string[]
  readonly capacity: Readonly<Record<string, string>>
}

export function readyProblems({ runtime, unhealthy, capacity }: ReadyFacts): readonly string[] {
  const missing = ['cpu', 'memory', 'pods', 'ephemeral-storage'].filter((name) => !(name in capacity))
  return [
    ...runtimeProblems(runtime, unhealthy),
    ...networkProblems(runtime),
    ...(missing.length === 0 ? [] : [`missing node capacity for resources: ${missing.join(', ')}`]),
  ]
}

function runtimeProblems({ healthyAgoMs, conditions }: RuntimeSeen, unhealthy: readonly string[]): string[] {
  const isDown =
    healthyAgoMs === undefined
      ? ['container runtime status check may not have completed yet']
      : healthyAgoMs >= runtimeDownMs
        ? ['container runtime is down']
        : []
  return [
    ...isDown,
    ...unhealthy,
    ...conditionProblem('container runtime not ready', 'RuntimeReady', conditions),
  ]
}

const networkProblems = ({ conditions }: RuntimeSeen): string[] =>
  conditions === undefined
    ? ['network state unknown']
    : conditionProblem('container runtime network not ready', 'NetworkReady', conditions)

function conditionProblem(words: string, type: string, conditions: RuntimeSeen['conditions']): string[] {
  if (conditions === undefined) return []
  const found = conditions.find((c) => c.type === type)
  if (found === undefined) return [`${words}: nil`]
  if (found.status) return []
  return [`${words}: ${type}=false reason:${found.reason} message:${found.message}`]
}
