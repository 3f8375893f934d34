// Specs that the upstream kubelet passes and Keelson does not yet, each with what it waits for.
export interface Waiting {
  readonly for: string
  readonly specs: readonly string[]
}

export const waiting: readonly Waiting[] = []

const byName: ReadonlyMap<string, string> = new Map(
  waiting.flatMap((w) => w.specs.map((name) => [name, w.for] as const)),
)

export const waitsFor = (name: string): string | undefined => byName.get(name)
