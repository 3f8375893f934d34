// Where Keelson and kubeadm differ on purpose. docs/conformance.md explains each entry under the same name; a
// difference that matches no entry fails the unit, and so does an entry that matches nothing any more.
import type { Difference } from './compare.js'
import type { Minor, Scenario } from './scenario.js'

interface KnownDifference {
  readonly name: string
  readonly matches: (difference: Difference, scenario: Scenario, minor: Minor) => boolean
}

const knownDifferences: readonly KnownDifference[] = []

const seen = new Set<string>()

/** Name of the entry that explains a difference. */
export function explain(difference: Difference, scenario: Scenario, minor: Minor): string | undefined {
  const name = knownDifferences.find((k) => k.matches(difference, scenario, minor))?.name
  if (name !== undefined) seen.add(name)
  return name
}

export const unusedExplanations = (): string[] =>
  knownDifferences.map((k) => k.name).filter((n) => !seen.has(n))
