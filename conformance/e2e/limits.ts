// Conformance specs of the cluster suite that do not pass here, each with its reason. A run fails when a spec is missing from
// these lists, and when one on them passes.
interface Limit {
  readonly why: string
  readonly specs: readonly string[]
}

/** Of the environment: with every kubelet. */
export const environmentLimits: readonly Limit[] = []

/** Of Keelson: the upstream kubelet passes them. */
export const keelsonLimits: readonly Limit[] = []

const byName = (limits: readonly Limit[]): ReadonlyMap<string, string> =>
  new Map(limits.flatMap((l) => l.specs.map((name) => [name, l.why] as const)))

const ofEnvironment = byName(environmentLimits)
const ofKeelson = byName(keelsonLimits)

export const environmentLimitOf = (name: string): string | undefined => ofEnvironment.get(name)
export const keelsonLimitOf = (name: string): string | undefined => ofKeelson.get(name)
