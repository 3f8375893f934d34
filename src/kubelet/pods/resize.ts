// Other cpu and memory values for a running pod, in place: its cgroup and every container that differs.
import type { ObservedPod } from '../../core/pod-observed.js'
import type { PodSpec } from '../../core/pod-spec.js'
import type { ControlValues } from '../../ports/cgroups.js'
import type { PodContext } from './ports.js'

export async function resizePod(
  spec: PodSpec,
  observed: ObservedPod,
  c: PodContext,
  signal: AbortSignal,
): Promise<void> {
  const { path, values } = c.planner.podCgroup(spec)
  // On v2 the pod comes first, whichever way; on v1 the kernel refuses a parent's limit below its child's, both ways.
  await c.cgroups.apply(path, c.cgroups.version === 'v1' ? widest(values) : values, signal)
  for (const id of c.planner.differing(spec, observed).ids) {
    const container = observed.containers.find((one) => one.id === id)
    if (container === undefined) continue
    const linux = c.planner.resources(spec, container.name)
    c.log.info('changing the resources of a running container', {
      pod: `${spec.pod.namespace}/${spec.pod.name}`,
      container: container.name,
      cpuShares: linux.cpuShares,
      cpuQuota: linux.cpuQuota,
      memoryLimit: linux.memoryLimitInBytes,
    })
    // The score of a running process is not the runtime's to change any more.
    const { oomScoreAdj: _, ...changeable } = linux
    await c.runtime.updateContainerResources(
      { containerId: id, linux: changeable },
      { timeoutMs: c.timeoutMs, signal },
    )
  }
  if (c.cgroups.version === 'v1') await c.cgroups.apply(path, values, signal)
}

/** The same values without any limit, for the moment in which the containers change. */
const widest = (values: ControlValues): ControlValues => ({
  ...values,
  'memory.limit_in_bytes': '-1',
  'cpu.cfs_quota_us': '-1',
})
