// The node where there are no cgroups, as on Windows: what the runtime's stats say about it, and nothing else. CRI has no
// call for the machine itself, so its CPU, memory, network and start are unknown; the pods together are known.
import type { NodeReading, PodSample, StatsSample, SystemContainer } from '../sample.js'
import { sumUsage } from '../sum-usage.js'
import type { MemoryUsage } from '../usage.js'

/** What is left of several limits is not one amount that a pod could use. */
const withoutAvailable = (memory: MemoryUsage | undefined): MemoryUsage | undefined =>
  memory && { ...memory, availableBytes: undefined }

/** The kubelet's own name for all pods together. A sum that lacks a pod would be too small: then it is unknown. */
function allPods(pods: readonly PodSample[], missing: number): SystemContainer[] {
  if (pods.length === 0 || missing > 0) return []
  const { cpu, memory, swap } = sumUsage(pods.map((pod) => pod.usage))
  const usage = {
    cpu: pods.every((pod) => pod.usage.cpu !== undefined) ? cpu : undefined,
    memory: pods.every((pod) => pod.usage.memory !== undefined) ? withoutAvailable(memory) : undefined,
    swap: pods.every((pod) => pod.usage.swap !== undefined) ? swap : undefined,
    io: undefined,
  }
  return [{ name: 'pods', startTimeNanos: 0n, usage }]
}

export const createRuntimeNode = ({ timeNanos, pods, missing }: StatsSample): NodeReading => ({
  sample: {
    timeNanos,
    startTimeNanos: 0n,
    usage: { cpu: undefined, memory: undefined, swap: undefined, io: undefined },
    network: undefined,
    rlimit: undefined,
    systemContainers: allPods(pods, missing),
  },
  // The series of the node and its slices are those of cgroups.
  write() {},
})
