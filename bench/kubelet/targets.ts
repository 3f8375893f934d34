// What Keelson is held to: a share of another stack's value in the same run, or a value of its own. A target is a row here.
import type { MeasureName } from './measures.js'
import type { StackName } from './stack.js'

interface Ratio {
  readonly measure: MeasureName
  readonly stack: StackName
  readonly against: StackName
  readonly limit: number
  /** What the limit comes from, where it is not our own. */
  readonly from?: string
}

interface Bound {
  readonly measure: MeasureName
  readonly stack: StackName
  /** In the measure's own unit. */
  readonly atMost: number
}

export type Target = Ratio | Bound

/** A node with more pods is given this much more. */
const LARGE_FACTOR = 1.2
const LARGE_PODS = 110

/** Limits of a pod's start do not change with what else runs. */
export function targetsFor(pods: number): readonly Target[] {
  const large = pods > LARGE_PODS
  const share = (limit: number): number => (large ? limit * LARGE_FACTOR : limit)
  const off: StackName = 'keelson'
  const gateOn = ['keelson with cri', 'one process'] as const
  const upstream = 'upstream'
  return [
    { measure: 'CPU until healthy', stack: off, against: upstream, limit: 1.5 },
    { measure: 'CPU until healthy, first start', stack: off, against: upstream, limit: 1.5 },
    { measure: 'one pod, p50', stack: off, against: upstream, limit: 1 },
    { measure: 'many pods to running', stack: off, against: upstream, limit: 0.9 },
    { measure: 'at rest: CPU of the kubelet', stack: off, against: upstream, limit: share(0.3) },
    { measure: 'three endpoints: CPU of the kubelet', stack: off, against: upstream, limit: share(0.3) },
    { measure: 'three endpoints: memory of the kubelet', stack: off, against: upstream, limit: share(0.8) },
    ...gateOn.flatMap((on): Target[] => [
      { measure: 'three endpoints: CPU of all', stack: on, against: upstream, limit: share(0.45) },
      { measure: 'three endpoints: CPU of all', stack: on, against: off, limit: share(1.15) },
      { measure: 'three endpoints: CPU of all', stack: on, against: off, limit: 1.02, from: 'KEP-2371' },
      { measure: 'three endpoints: memory of all', stack: on, against: off, limit: share(1.05) },
    ]),
    ...[off, ...gateOn].map(
      (stack): Target => ({
        measure: 'longest block of the event loop',
        stack,
        atMost: large ? 100 : 50,
      }),
    ),
  ]
}
