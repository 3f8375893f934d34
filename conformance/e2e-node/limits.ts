// Specs that the upstream kubelet does not pass here, each with the limit of the environment that is the reason. A run
// fails when a spec is missing from this list, and when one on it passes.
export interface Limit {
  readonly why: string
  readonly specs: readonly string[]
}

export const limits: readonly Limit[] = []

const byName: ReadonlyMap<string, string> = new Map(
  limits.flatMap((l) => l.specs.map((name) => [name, l.why] as const)),
)

export const limitOf = (name: string): string | undefined => byName.get(name)
