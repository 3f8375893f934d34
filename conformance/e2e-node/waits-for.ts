// Specs that the upstream kubelet passes and Keelson does not yet, each with what it waits for. A run fails when a spec is
// missing from this list, and when one on it passes.
import type { GroupName } from './groups.js'

interface Waiting {
  readonly for: string
  readonly specs: readonly string[]
}

/** Groups of which nothing passes yet, or that were not run. */
export const groupWaitsFor: Readonly<Partial<Record<GroupName, string>>> = {
  later: 'device plugins and other managers, which Keelson does not have',
}

export const waiting: readonly Waiting[] = []

const byName: ReadonlyMap<string, string> = new Map(
  waiting.flatMap((w) => w.specs.map((name) => [name, w.for] as const)),
)

export const waitsFor = (name: string): string | undefined => byName.get(name)
