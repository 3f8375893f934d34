// The values of pods on this node: what core/plan/pod-plan.ts computes, from the configuration and the facts of the node, and
// what the runtime and the cgroup tree are told of it.
import type { EffectiveConfig } from '../../../config/effective.js'
import { type CgroupDriver, formatCgroupPath } from '../../../core/cgroup/name.js'
import { kubepodsName, podCgroupName, qosCgroupName } from '../../../core/cgroup/pod-cgroup.js'
import { planNode } from '../../../core/plan/node-plan.js'
import { type PodPlan, type PodPlanInput, planPod } from '../../../core/plan/pod-plan.js'
import { allContainers } from '../../../core/pod/pod.js'
import { qosClassOf } from '../../../core/pod/qos-class.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { type Bytes, bytes } from '../../../core/units/bytes.js'
import type { ControlValues } from '../../../ports/cgroups.js'
import type { NodeFacts } from '../../node/node-facts.js'
import type { ObservedPod } from '../decide/observed.js'
import { nodeCgroupValues, podCgroupValues } from '../to-cri/cgroup-values.js'
import { containerResources, hasResources, type PlannedResources } from '../to-cri/container-resources.js'

interface PlannerInput {
  readonly config: EffectiveConfig
  readonly node: NodeFacts
  readonly driver: CgroupDriver
  readonly swapCapacity: Bytes
}

interface PodCgroup {
  readonly path: string
  readonly values: ControlValues
}

export interface Planner {
  podCgroup(spec: PodSpec): PodCgroup
  /** Without a manifest only where the cgroup could be: one path per QoS class. */
  podCgroupPaths(uid: string): readonly string[]
  resources(spec: PodSpec, container: string): PlannedResources
  /** Ids of running containers that have other cpu or memory values than wanted; `unknown`: the runtime does not report them. */
  differing(
    spec: PodSpec,
    observed: ObservedPod,
  ): { readonly ids: readonly string[]; readonly unknown: boolean }
  /** kubepods and the QoS cgroups, for the pods that are there. */
  nodeCgroups(specs: readonly PodSpec[]): readonly PodCgroup[]
}

const msToUs = 1000

export function createPlanner({ config, node, driver, swapCapacity }: PlannerInput): Planner {
  const { kubelet } = config
  const version = node.cgroupVersion
  const periodUs = BigInt(Math.round(kubelet.cpuCFSQuotaPeriod * msToUs))
  const root = kubelet.cgroupRoot ?? '/'
  const memoryQos = { ...config.memoryQos, cgroupVersion: version }
  const base: Omit<PodPlanInput, 'pod'> = {
    memoryQos,
    allocatableMemory: node.allocatable.forFormula,
    memoryCapacity: node.capacity.memory,
    pageSize: node.pageSize,
    cpuQuota: { enforced: kubelet.cpuCFSQuota, periodUs },
    swap: { behavior: kubelet.memorySwap.swapBehavior, capacity: swapCapacity },
    singleProcessOOMKill: kubelet.singleProcessOOMKill,
    runtimeWeightCurve: 'linear',
  }
  const plan = (spec: PodSpec): PodPlan => planPod({ ...base, pod: spec.pod })
  const facts = { cgroupVersion: version, cpuPeriodUs: periodUs, enforcesCpuQuota: kubelet.cpuCFSQuota }
  const pathOf = (name: readonly string[]): string => formatCgroupPath(name, driver)

  const resources = (spec: PodSpec, name: string): PlannedResources => {
    const container = allContainers(spec.pod).find((c) => c.name === name)
    const planned = plan(spec).containers.find((c) => c.name === name)
    if (container === undefined || planned === undefined) throw new Error(`the pod has no container ${name}`)
    return containerResources(container, planned, facts)
  }

  return {
    resources,
    podCgroup(spec) {
      const values = podCgroupValues(spec.pod, plan(spec), {
        version,
        periodUs,
        pidsLimit: kubelet.podPidsLimit,
      })
      return { path: pathOf(podCgroupName(spec.pod.uid, qosClassOf(spec.pod), root)), values }
    },
    podCgroupPaths: (uid) =>
      (['Guaranteed', 'Burstable', 'BestEffort'] as const).map((c) => pathOf(podCgroupName(uid, c, root))),
    differing(spec, observed) {
      const running = observed.containers.filter((c) => c.state === 'running')
      const known = running.filter((c) => allContainers(spec.pod).some(({ name }) => name === c.name))
      const answers = known.map((c) => ({
        id: c.id,
        same: hasResources(resources(spec, c.name), c.resources),
      }))
      return {
        ids: answers.filter(({ same }) => same !== true).map(({ id }) => id),
        unknown: answers.some(({ same }) => same === undefined),
      }
    },
    nodeCgroups(specs) {
      const milliCpus = BigInt(node.capacity.cpus) * 1000n
      const planned = planNode({
        pods: specs.map((spec) => spec.pod),
        memoryQos,
        cgroupsPerQOS: kubelet.cgroupsPerQOS,
        enforcesPods: kubelet.enforceNodeAllocatable.includes('pods'),
        memoryCapacity: bytes(node.capacity.memory),
        allocatableMemory: node.allocatable.forFormula,
        kubepodsMilliCpu: milliCpus,
      })
      const values = nodeCgroupValues(planned, version, milliCpus)
      return [
        { path: pathOf(kubepodsName(root)), values: values.kubepods },
        { path: pathOf(qosCgroupName(root, 'Burstable')), values: values.burstable },
        { path: pathOf(qosCgroupName(root, 'BestEffort')), values: values.besteffort },
      ]
    },
  }
}
