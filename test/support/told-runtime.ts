// Everything that the runtime and the cgroup tree would be told of a pod, down to the bytes on the wire: for properties that
// must hold for every manifest.

import { planPod } from '../../src/core/plan/pod-plan.js'
import { allContainers } from '../../src/core/pod/pod.js'
import { allContainerSpecs, type ContainerSpec, type PodSpec } from '../../src/core/pod/spec/spec.js'
import { bytes } from '../../src/core/units/bytes.js'
import { parseQuantity } from '../../src/core/units/quantity.js'
import { ContainerConfig, PodSandboxConfig } from '../../src/cri-api/api.js'
import {
  type ContainerWords,
  containerWords,
  noSources,
} from '../../src/kubelet/environment/decide/container-env.js'
import { podNames } from '../../src/kubelet/names/decide/hostname.js'
import { podResolvConf } from '../../src/kubelet/names/decide/resolv-conf.js'
import { podCgroupValues } from '../../src/kubelet/pods/to-cri/cgroup-values.js'
import { containerConfig } from '../../src/kubelet/pods/to-cri/container-config.js'
import { containerResources } from '../../src/kubelet/pods/to-cri/container-resources.js'
import { emptyDirPath } from '../../src/kubelet/pods/to-cri/names.js'
import { sandboxConfig } from '../../src/kubelet/pods/to-cri/sandbox-config.js'
import type { ContainerMount } from '../../src/kubelet/volumes/container-mounts.js'

const paths = { rootDir: '/var/lib/kubelet', podLogsDir: '/var/log/pods' }
const facts = {
  nodeName: 'n1',
  hostIPs: ['192.0.2.1'],
  podIPs: ['10.0.0.2'],
  allocatable: new Map([['memory', parseQuantity('4Gi')]]),
}
const periodUs = 100_000n

/** Without the objects of a cluster; what cannot be configured has no words. */
export function wordsOf(spec: PodSpec, container: ContainerSpec): ContainerWords {
  const words = containerWords(spec, container, facts, noSources)
  return typeof words === 'string' ? { env: [], command: [], args: [] } : words
}

export interface Told {
  readonly wireBytes: number
  /** Every value that would be written to the pod's cgroup. */
  readonly podValues: readonly string[]
}

export function tellRuntime(spec: PodSpec, cgroupVersion: 1 | 2): Told {
  const plan = planPod({
    pod: spec.pod,
    memoryQos: { enabled: true, cgroupVersion, generation: '1.27', factor: 0.9, policy: 'TieredReservation' },
    allocatableMemory: bytes(2n ** 32n),
    memoryCapacity: bytes(2n ** 33n),
    pageSize: 4096n,
    cpuQuota: { enforced: true, periodUs },
    swap: { behavior: 'NoSwap', capacity: bytes(0n) },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'linear',
  })
  const resourceFacts = { cgroupVersion, cpuPeriodUs: periodUs, enforcesCpuQuota: true }
  const sandbox = sandboxConfig(spec, 0, {
    paths,
    cgroupParent: '/kubepods/podu1',
    hostname: podNames(spec, 'cluster.local').hostname,
    dns: podResolvConf(spec, undefined, { servers: [], domain: undefined }),
    identity: { rootDir: paths.rootDir, nodeName: 'n1', staticPodPath: '/m', hasApi: false },
    manifest: '/m/x.yaml',
  })
  let wireBytes = PodSandboxConfig.encode(PodSandboxConfig.fromPartial(sandbox)).finish().length
  for (const container of allContainerSpecs(spec)) {
    const amounts = allContainers(spec.pod).find((c) => c.name === container.name)
    const planned = plan.containers.find((c) => c.name === container.name)
    if (amounts === undefined || planned === undefined) throw new Error(`no plan of ${container.name}`)
    const config = containerConfig(spec, container, {
      mounts: plainMounts(spec, container),
      words: wordsOf(spec, container),
      targetId: undefined,
      hasHostsFile: true,
      paths,
      attempt: 0,
      imageRef: 'sha256:1',
      imageUid: undefined,
      imageUser: '',
      resources: containerResources(amounts, planned, resourceFacts),
      seccompDefault: false,
    })
    wireBytes += ContainerConfig.encode(ContainerConfig.fromPartial(config)).finish().length
  }
  const values = podCgroupValues(spec.pod, plan, { version: cgroupVersion, periodUs, pidsLimit: -1 })
  return { wireBytes, podValues: Object.values(values) }
}

/** Each volume where it would be, whole. */
export const plainMounts = (
  { volumes, pod }: PodSpec,
  { mounts }: ContainerSpec,
): readonly ContainerMount[] =>
  mounts.map(({ volume, path, propagation, readOnly }) => {
    const found = volumes.find((v) => v.name === volume)
    const hostPath = found?.kind === 'hostPath' ? found.path : emptyDirPath(paths, pod.uid, volume)
    return { path, propagation, readOnly, recursiveReadOnly: false, source: { hostPath } }
  })
