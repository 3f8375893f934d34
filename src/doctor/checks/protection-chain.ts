// KEP-2570, "memory.min protection ineffective": the kernel caps each level by its parent, so one ancestor without a
// value makes everything below it void.

import { effectiveProtection } from '../../core/memory-qos/effective-protection.js'
import { counted } from '../../core/units/counted.js'
import { type Check, error, type Finding, firstOf, info, ok, skipped, warn } from '../check.js'
import type { CgroupFacts, DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'
import { createNamer } from '../names.js'
import type { PodCgroup } from '../pod-cgroup.js'

type ProtectionFile = 'min' | 'low'

export const protectionChain: Check<DoctorFacts> = {
  name: 'protection-chain',
  asks: 'Is the memory protection of pods effective in all their ancestors?',
  run(facts) {
    const { cgroups } = facts
    if (cgroups === undefined) return skipped('no cgroup hierarchy is readable')
    if (cgroups.mode !== 'v2') return skipped('cgroup v1 has no memory.min')
    const protectedOnes = cgroups.pods.filter((c) => c.min > 0n || c.low > 0n)
    if (protectedOnes.length === 0) return ok('no cgroup of a pod has memory.min or memory.low')
    const findings = [
      ...voidBelow(facts, cgroups, 'min'),
      ...voidBelow(facts, cgroups, 'low'),
      ...shared(facts, cgroups, 'min'),
    ]
    if (!cgroups.recursiveProtection)
      findings.push(
        info(
          'cgroup2 is mounted without memory_recursiveprot: protection that a pod does not claim is lost',
          [`${counted(protectedOnes.length, 'cgroup')} with memory.min or memory.low`],
        ),
      )
    return findings.length === 0
      ? ok(`${counted(protectedOnes.length, 'cgroup')}, protected up to the root`)
      : findings
  },
}

const parentsOf = (pods: readonly PodCgroup[], cgroup: PodCgroup): PodCgroup[] => {
  const parent = pods.find((c) => c.path === cgroup.parent)
  return parent === undefined ? [] : [parent, ...parentsOf(pods, parent)]
}

/** A value below an ancestor without one protects nothing. */
function voidBelow(facts: DoctorFacts, { pods }: CgroupFacts, file: ProtectionFile): Finding[] {
  const nameOf = createNamer(facts)
  const byAncestor = new Map<string, string[]>()
  for (const cgroup of pods.filter((c) => c[file] > 0n)) {
    const open = parentsOf(pods, cgroup).find((a) => a[file] === 0n)
    if (open === undefined) continue
    const list = byAncestor.get(open.path) ?? []
    list.push(`${nameOf(cgroup)} memory.${file}=${formatAmount(cgroup[file])}`)
    byAncestor.set(open.path, list)
  }
  return [...byAncestor].map(([ancestor, list]) =>
    error(
      `memory.${file} of ${counted(list.length, 'cgroup')} has no effect, because ${ancestor} has memory.${file}=0`,
      `set ${ancestor} to the sum of its children; a kubelet with the gate MemoryQoS does this: restart it and check its log, or run keelson companion`,
      [`${ancestor} memory.${file}=0`, ...firstOf(list)],
    ),
  )
}

/** Where siblings claim more than their parent has, each gets a part. */
function shared(
  facts: DoctorFacts,
  { pods, recursiveProtection }: CgroupFacts,
  file: ProtectionFile,
): Finding[] {
  const nameOf = createNamer(facts)
  const nodes = pods.map((c) => ({
    path: c.path,
    parent: c.parent,
    setting: c[file],
    usage: c.after.current,
  }))
  const effective = effectiveProtection(nodes, { recursive: recursiveProtection })
  const short = pods.flatMap((c) => {
    const found = effective.get(c.path)
    const claimed = c.after.current < c[file] ? c.after.current : c[file]
    // What is void altogether is said above.
    return found?.cappedBy === undefined || found.effective === 0n || found.effective >= claimed
      ? []
      : [
          `${nameOf(c)}: ${formatAmount(found.effective)} of ${formatAmount(claimed)}, capped by ${found.cappedBy}`,
        ]
  })
  if (short.length === 0) return []
  return [
    warn(
      `memory.${file} protects only a part of ${counted(short.length, 'cgroup')}: siblings claim more than their parent has`,
      'raise the value of the ancestor that caps it, or lower the requests below it',
      firstOf(short),
    ),
  ]
}
