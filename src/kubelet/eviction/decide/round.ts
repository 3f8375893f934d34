// One round of eviction: from what was observed now and in the rounds before to the conditions of the node and the thresholds
// to act on, the most urgent first.
import type { Pressure } from '../../node/decide/conditions.js'
import type { Observations } from './observations.js'
import { conditionOf, resourceOf } from './signals.js'
import { type Threshold, thresholdsMet } from './thresholds.js'

export interface EvictionState {
  /** Key of a threshold -> since when it is met. */
  readonly metSince: ReadonlyMap<string, bigint>
  readonly lastSeen: ReadonlyMap<keyof Pressure, bigint>
  /** Met past their grace, and not resolved yet. */
  readonly unresolved: readonly Threshold[]
  readonly observations: Observations
}

export const initialState: EvictionState = {
  metSince: new Map(),
  lastSeen: new Map(),
  unresolved: [],
  observations: new Map(),
}

interface RoundInput {
  readonly thresholds: readonly Threshold[]
  readonly observations: Observations
  readonly transitionMs: number
  /** Monotonic. */
  readonly nowNanos: bigint
}

interface Round {
  readonly state: EvictionState
  readonly pressure: Pressure
  /** To act on, the most urgent first; empty: nothing is short. */
  readonly urgent: readonly Threshold[]
}

const keyOf = ({ signal, value, graceMs }: Threshold): string => `${signal} ${value} ${graceMs}`
const toNanos = (ms: number): bigint => BigInt(Math.round(ms * 1e6))

export function decideRound(before: EvictionState, i: RoundInput): Round {
  const { observations, nowNanos } = i
  const met = new Map(
    [
      ...thresholdsMet(i.thresholds, observations, false),
      ...thresholdsMet(before.unresolved, observations, true),
    ].map((t) => [keyOf(t), t]),
  )
  const metSince = new Map([...met.keys()].map((key) => [key, before.metSince.get(key) ?? nowNanos]))
  const lastSeen = new Map(before.lastSeen)
  for (const { signal } of met.values()) lastSeen.set(conditionOf(signal), nowNanos)
  const isUnder = (condition: keyof Pressure): boolean => {
    const seen = lastSeen.get(condition)
    return seen !== undefined && (seen === nowNanos || nowNanos - seen < toNanos(i.transitionMs))
  }
  const past = [...met.values()].filter(
    (t) => nowNanos - (metSince.get(keyOf(t)) ?? nowNanos) >= toNanos(t.graceMs),
  )
  return {
    state: { metSince, lastSeen, unresolved: past, observations },
    pressure: { memory: isUnder('memory'), disk: isUnder('disk'), pid: isUnder('pid') },
    urgent: past.filter((t) => isNewer(t, observations, before.observations)).sort(byUrgency),
  }
}

/** The same values must not evict a second pod: what the first one freed is not in them. */
const isNewer = ({ signal }: Threshold, now: Observations, before: Observations): boolean => {
  const [seen, last] = [now.get(signal), before.get(signal)]
  return seen !== undefined && (last === undefined || seen.timeNanos > last.timeNanos)
}

/** Memory first: the kernel does not wait when it is out of it. */
const byUrgency = (a: Threshold, b: Threshold): number => rankOf(a) - rankOf(b)
const rankOf = ({ signal }: Threshold): number => (resourceOf[signal] === 'memory' ? 0 : 1)
