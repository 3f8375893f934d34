// Specs that the upstream kubelet does not pass here, each with the limit of the environment that is the reason. A run
// fails when a spec is missing from this list, and when one on it passes.
export interface Limit {
  readonly why: string
  readonly specs: readonly string[]
}

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
]

const byName: ReadonlyMap<string, string> = new Map(
  limits.flatMap((l) => l.specs.map((name) => [name, l.why] as const)),
)

export const limitOf = (name: string): string | undefined => byName.get(name)
