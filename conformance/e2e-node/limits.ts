// Specs that the upstream kubelet does not pass here, each with the limit of the environment that is the reason. A run
// fails when a spec is missing from this list, and when one on it passes.
export interface Limit {
  readonly why: string
  readonly specs: readonly string[]
}

const quotaSpec = (hasQuotas: string, inUserNamespace: string): string =>
  `[sig-node] LocalStorageCapacityIsolationFSQuotaMonitoring [Feature:LocalStorageCapacityIsolationQuota] [Feature:LSCIQuotaMonitoring] [Feature:UserNamespacesSupport] when we run containers that should cause use quotas for LSCI monitoring (quotas enabled: ${hasQuotas}, userNamespacesEnabled: ${inUserNamespace}) should eventually evict all of the correct pods [Disruptive] [Serial] [Slow]`

export const limits: readonly Limit[] = [
  {
    why: 'this kernel (6.18) counts no I/O per device in the blkio controller of cgroup v1, so there are no container_fs_* and container_blkio_* series',
    specs: [
      '[sig-node] ContainerMetrics [LinuxOnly] when querying /metrics/cadvisor should report container metrics [NodeConformance]',
    ],
  },
  {
    why: 'this kernel has no dummy network driver (CONFIG_DUMMY), of which the spec makes an interface',
    specs: ['[sig-node] PrivilegedPod should enable privileged commands [LinuxOnly] [NodeConformance]'],
  },
  {
    why: 'cleans up by pulling all images of the suite again, some of which have fixed digests and cannot be made here',
    specs: ['should GC unused images', 'should not GC unused images prematurely'].map(
      (name) =>
        `[sig-node] ImageGarbageCollect when ImageMaximumGCAge is set ${name} [NodeConformance] [Serial]`,
    ),
  },
  {
    why: 'skips itself: it is for runtimes without recursive read-only mounts, and containerd 2 has them',
    specs: [
      'should accept non-recursive read-only mounts [NodeConformance]',
      'should reject recursive read-only mounts [NodeConformance]',
    ].map(
      (name) =>
        `[sig-node] Mount recursive read-only [LinuxOnly] Mount recursive read-only when the runtime does not support recursive read-only mounts ${name}`,
    ),
  },
  {
    why: 'skips itself: images, layers and pods of the node are on one file system',
    specs: [
      'should display different stats for imageFs and containerFs',
      'when there is disk pressure on containerFs should eventually evict all of the correct pods [Disruptive] [Serial] [Slow]',
      'when there is disk pressure on imageFs should evict all of the correct pods [Disruptive] [Serial] [Slow]',
    ].map((name) => `[sig-node] KubeletSeparateDiskGC [Feature:KubeletSeparateDiskGC] ${name}`),
  },
  {
    why: 'skips itself: the file system of the node has no project quota',
    specs: ['false', 'true'].map((inUserNamespace) => quotaSpec('true', inUserNamespace)),
  },
  {
    why: 'a pod in a user namespace does not start in a node environment of namespaces',
    specs: [quotaSpec('false', 'true')],
  },
  {
    why: 'the unused images of the suite are removed first, which is enough until the slow hog of the spec has written as much again: evicted after 73 s with either kubelet, where the spec allows 31',
    specs: [
      '[sig-node] LocalStorageSoftEvictionNotOverwriteTerminationGracePeriodSeconds [Feature:Eviction] when we run containers that should cause DiskPressure should eventually evict all of the correct pods [Disruptive] [Serial] [Slow]',
    ],
  },
]

const byName: ReadonlyMap<string, string> = new Map(
  limits.flatMap((l) => l.specs.map((name) => [name, l.why] as const)),
)

export const limitOf = (name: string): string | undefined => byName.get(name)
