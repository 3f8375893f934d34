// UpdatePodSandboxResources on a runtime without it: the pod's cgroup gets the values, where that cgroup is ours to write.
// Slices belong to systemd: there the call is answered only when the values are in place already.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import { isSettled } from '../../core/kernel-text/read-back.js'
import { linearWeight } from '../../core/units/cpu.js'
import {
  type LinuxContainerResources,
  UpdatePodSandboxResourcesRequest,
  UpdatePodSandboxResourcesResponse,
} from '../../cri-api/api.js'
import type { ControlValues } from '../../ports/cgroups.js'
import { type CriMethod, runtimePath, tryDecode } from './method.js'

type Amount = 'cpuShares' | 'cpuQuota' | 'cpuPeriod' | 'memoryLimitInBytes'

/**
 * The containers' resources plus overhead, as control files. Zero means "leave as it is" throughout CRI, and a negative
 * quota "no limit".
 */
function podValues(
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

export const updatePodSandboxResources: CriMethod = {
  path: runtimePath('UpdatePodSandboxResources'),
  async run(call, { cgroups, cgroupFinder, pageSize, log, table }) {
    const request = tryDecode(UpdatePodSandboxResourcesRequest, await call.readMessage())
    const answer = await call.ask()
    if (answer.code !== grpcCode.unimplemented || request === undefined) return await call.relay(answer)
    table.noteMissing(call.path)
    const pod = await cgroupFinder.ofPod(request.podSandboxId, call.signal)
    if (pod === undefined) {
      log.warn('the sandbox has no cgroup of its pod alone; UpdatePodSandboxResources stays unimplemented', {
        sandbox: request.podSandboxId,
      })
      return await call.relay(answer)
    }
    const values = podValues(request, cgroups.version)
    const text = (file: string): string => new TextDecoder().decode(cgroups.read(pod, file)).trim()
    const missing = Object.entries(values).filter(([file, v]) => !isSettled(file, v, text(file), pageSize))
    if (missing.length > 0 && pod.endsWith('.slice')) {
      log.warn("the pod's slice belongs to systemd; UpdatePodSandboxResources stays unimplemented", {
        sandbox: request.podSandboxId,
        missing: Object.fromEntries(missing),
      })
      return await call.relay(answer)
    }
    await cgroups.apply(pod, Object.fromEntries(missing), call.signal)
    return await call.reply(UpdatePodSandboxResourcesResponse.encode({ _unknownFields: {} }).finish())
  },
}
