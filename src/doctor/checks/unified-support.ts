// KEP-2570 reaches containers through the runtime's `unified` map: too old a runtime drops it in silence.
import { isSettled } from '../../core/kernel-text/read-back.js'
import { type Check, error, type Finding, firstOf, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import type { PodCgroup } from '../pod-cgroup.js'
import { isAtLeastOldest, type OldestVersions } from '../runtime-version.js'

const oldest: OldestVersions = {
  containerd: { major: 1, minor: 6 },
  'cri-o': { major: 1, minor: 22 },
}
const kernelDefaults: Readonly<Record<string, string>> = {
  'memory.min': '0',
  'memory.low': '0',
  'memory.high': 'max',
}

export const unifiedSupport: Check<DoctorFacts> = {
  name: 'unified-support',
  asks: 'Does the runtime write the memory values of the unified map?',
  run(facts) {
    const { runtime, runtimeFacts, cgroups, kubelet } = facts
    if (runtime === undefined || runtimeFacts === undefined) return skipped('no runtime responded')
    if (cgroups?.mode !== 'v2') return skipped('cgroup v1 has no unified values')
    const who = `${runtime.name} ${runtime.version}`
    const enough = isAtLeastOldest(runtime, oldest)
    if (enough === false) {
      const message = `${who} does not support the unified map, so memory.min and memory.high are never set`
      const remedy = 'upgrade to containerd 1.6 or CRI-O 1.22 or later'
      return kubelet.loaded.config.memoryQos.enabled ? error(message, remedy) : info(message, [], remedy)
    }
    return compare(facts, who, enough)
  },
}

/** What CreateContainer asked for against what the files hold. */
function compare(
  { runtimeFacts, cgroups, machine }: DoctorFacts,
  who: string,
  enough: boolean | undefined,
): Finding {
  const byId = new Map((cgroups?.pods ?? []).map((c) => [c.containerId, c]))
  const ignored: string[] = []
  const changed: string[] = []
  let compared = 0
  for (const { id, name, unified } of runtimeFacts?.containers ?? []) {
    const cgroup = byId.get(id)
    if (cgroup === undefined || unified === undefined) continue
    for (const [file, standard] of Object.entries(kernelDefaults)) {
      const asked = unified[file]
      if (asked === undefined) continue
      compared += 1
      const found = fileValue(cgroup, file)
      if (isSettled(file, asked, found, machine?.pageSize ?? 4096n)) continue
      const line = `${name}: ${file} requested ${asked}, found ${found}`
      if (found === standard) ignored.push(line)
      else changed.push(line)
    }
  }
  if (ignored.length > 0)
    return warn(
      `${who} did not write ${ignored.length} of ${compared} requested memory values`,
      "upgrade the runtime and its OCI runtime; search for 'unified' in its log",
      firstOf(ignored),
    )
  if (changed.length > 0)
    return info('memory values were changed after the containers were created', firstOf(changed))
  return compared === 0
    ? ok(enough === undefined ? `${who}: nothing to compare` : `${who} is new enough`)
    : ok(`${compared} values of running containers are as requested`)
}

function fileValue(cgroup: PodCgroup, file: string): string {
  const value = file === 'memory.min' ? cgroup.min : file === 'memory.low' ? cgroup.low : cgroup.high
  return value.toString()
}
