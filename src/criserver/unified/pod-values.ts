// What UpdatePodSandboxResources asks of the pod's cgroup: containers' resources plus overhead, as control files.
import { linearWeight } from '../../core/units/cpu.js'
import type { LinuxContainerResources, UpdatePodSandboxResourcesRequest } from '../../cri-api/api.js'
import type { ControlValues } from '../../ports/cgroups.js'

type Amount = 'cpuShares' | 'cpuQuota' | 'cpuPeriod' | 'memoryLimitInBytes'

/** Zero means "leave as it is" throughout CRI, and a negative quota "no limit". */
export function podValues(
  { resources, overhead }: Pick<UpdatePodSandboxResourcesRequest, 'resources' | 'overhead'>,
  version: 'v1' | 'v2',
): ControlValues {
  const of = (r: LinuxContainerResources | undefined, name: Amount): bigint => r?.[name] ?? 0n
  const sum = (name: Amount): bigint => {
    const own = of(resources, name)
    return own > 0n ? own + of(overhead, name) : own
  }
  const [shares, quota, memory] = [sum('cpuShares'), sum('cpuQuota'), sum('memoryLimitInBytes')]
  const period = of(resources, 'cpuPeriod')
  const values: Record<string, string> = {}
  if (version === 'v2') {
    if (shares > 0n) values['cpu.weight'] = linearWeight(shares).toString()
    if (quota !== 0n) values['cpu.max'] = `${quota > 0n ? quota : 'max'} ${period > 0n ? period : 100_000n}`
    if (memory > 0n) values['memory.max'] = memory.toString()
    return { ...values, ...resources?.unified }
  }
  if (shares > 0n) values['cpu.shares'] = shares.toString()
  if (quota !== 0n && period > 0n) values['cpu.cfs_period_us'] = period.toString()
  if (quota !== 0n) values['cpu.cfs_quota_us'] = (quota > 0n ? quota : -1n).toString()
  if (memory > 0n) values['memory.limit_in_bytes'] = memory.toString()
  return values
}
