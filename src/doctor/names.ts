// How a cgroup is called in a finding: by its container where the runtime knows one, else by its path.
import type { DoctorFacts } from './facts.js'
import type { PodCgroup } from './pod-cgroup.js'

export function createNamer({ runtimeFacts }: Pick<DoctorFacts, 'runtimeFacts'>): (c: PodCgroup) => string {
  const names = new Map((runtimeFacts?.containers ?? []).map((c) => [c.id, c.name]))
  return ({ containerId, path }) => {
    const name = containerId === undefined ? undefined : names.get(containerId)
    return name === undefined ? path : `${name} (${path})`
  }
}
