// Known defects of runtimes in what they report. Only these are ever changed in a value that a runtime gave;
// docs/cri-server.md shows the same list.

export interface RuntimeName {
  /** As Version says it: `containerd`, `cri-o`. */
  readonly name: string
  readonly version: string
  /** `keelson cri` is in between and makes the calls in a way that does no harm. */
  readonly isBehindServer?: boolean
}

export type DefectName =
  | 'default-interface-repeated'
  | 'loopback-as-default'
  | 'host-network-counted'
  | 'node-network-counted'
  | 'threads-as-processes'
  | 'available-zero-when-unlimited'
  | 'unlimited-as-amount'
  | 'limit-as-peak'
  | 'zero-when-unset'
  | 'memory-plus-swap'
  | 'zero-page-faults'
  | 'rate-zero-when-unknown'
  | 'cpu-rows'
  | 'throttling-without-quota'
  | 'root-as-device'
  | 'slow-pod-stats'
  | 'panic-without-cgroup'
  | 'start-time-in-nanoseconds'
  | 'seconds-cut'
  | 'labels-missing'

interface Defect {
  readonly name: DefectName
  /** `value`: a wrong value. `call`: a call that is slow or ends the runtime. `form`: what CRI or the runtime leaves out. */
  readonly kind: 'value' | 'call' | 'form'
  /** Names of runtimes; undefined: every runtime. */
  readonly runtimes?: readonly string[]
  /** The first major version with it; undefined: every version before `goneIn`. */
  readonly since?: number
  /** The first major version without it; undefined: every version so far. */
  readonly goneIn?: number
  /** Seen only where this version of cgroups is in use; undefined: both. */
  readonly onlyOn?: 'v1'
  /** Families and fields of the summary in which a comparison with the kernel shows it. */
  readonly shows?: RegExp
  /** How we fix it. */
  readonly fix: string
}

const both = ['containerd', 'cri-o'] as const

export const defects: readonly Defect[] = [
  {
    name: 'default-interface-repeated',
    kind: 'value',
    runtimes: ['containerd'],
    fix: 'taken out of `network.interfaces`, where CRI wants only the others',
  },
  {
    name: 'loopback-as-default',
    kind: 'value',
    runtimes: ['cri-o'],
    shows: /^network\./,
    fix: '`lo` as default interface is replaced by eth0, or the first other one',
  },
  {
    name: 'host-network-counted',
    kind: 'value',
    runtimes: ['cri-o'],
    shows: /^network\.|^container_network_/,
    fix: "a pod on the node's network has no network values: they were the node's",
  },
  {
    name: 'node-network-counted',
    kind: 'value',
    runtimes: ['cri-o'],
    shows: /^network\.|^container_network_/,
    fix: "network values that are not those of the pod's own network namespace are read from there",
  },
  {
    name: 'threads-as-processes',
    kind: 'value',
    runtimes: both,
    shows: /process_count|processes/,
    fix: '`process_count` counts processes (cgroup.procs), where pids.current was threads',
  },
  {
    name: 'available-zero-when-unlimited',
    kind: 'value',
    runtimes: both,
    shows: /availableBytes/,
    fix: '`available_bytes` 0 of a cgroup without a limit is unset',
  },
  {
    name: 'unlimited-as-amount',
    kind: 'value',
    runtimes: both,
    shows: /availableBytes|AvailableBytes|^container_(threads_max|memory_max_usage_bytes|spec_memory_)/,
    fix: 'an amount of 2^62 or more means "no limit" or "unknown"; it is read from the cgroup, or unset',
  },
  {
    name: 'limit-as-peak',
    kind: 'value',
    runtimes: ['containerd'],
    since: 2,
    shows: /^container_memory_max_usage_bytes/,
    fix: '`container_memory_max_usage_bytes` that is the limit is read from the cgroup',
  },
  {
    name: 'memory-plus-swap',
    kind: 'value',
    runtimes: both,
    onlyOn: 'v1',
    shows: /swap/i,
    fix: 'swap usage that is memory and swap together (memory.memsw of cgroup v1) is read from the cgroup',
  },
  {
    name: 'zero-page-faults',
    kind: 'value',
    runtimes: ['cri-o'],
    shows: /pageFaults|PageFaults|^container_memory_failures_total/,
    fix: 'page faults of 0, where the kernel has counted some, are read from the cgroup',
  },
  {
    name: 'rate-zero-when-unknown',
    kind: 'value',
    runtimes: both,
    shows: /usageNanoCores/,
    fix: '`usage_nano_cores` 0 becomes our rate of at least one second, or unset',
  },
  {
    name: 'cpu-rows',
    kind: 'value',
    runtimes: ['cri-o'],
    shows: /^container_cpu_usage_seconds_total/,
    fix: 'rows of `container_cpu_usage_seconds_total` for each CPU (cgroup v1), cut to seconds each, become the one row `total`',
  },
  {
    name: 'zero-when-unset',
    kind: 'value',
    runtimes: ['cri-o'],
    shows: /^container_spec_cpu_(period|shares)/,
    fix: '`container_spec_cpu_period` and `_shares` of 0, where the kernel has its default, are read from the cgroup',
  },
  {
    name: 'throttling-without-quota',
    kind: 'value',
    runtimes: both,
    shows: /^container_cpu_cfs_/,
    fix: '`container_cpu_cfs_*` of a container without a CPU quota, which is never throttled, is left out',
  },
  {
    name: 'root-as-device',
    kind: 'value',
    runtimes: ['containerd'],
    since: 2,
    shows: /^container_fs_(usage_bytes|limit_bytes|inodes_)/,
    fix: 'rows of `container_fs_usage_bytes`, `_limit_bytes` and `_inodes_*` with the device `/` become those of the real device (behind `keelson cri`)',
  },
  {
    name: 'slow-pod-stats',
    kind: 'call',
    runtimes: ['containerd'],
    goneIn: 2,
    fix: 'ListPodSandboxStats asks every shim in turn; it is answered from the cgroups, which the shims read too',
  },
  {
    name: 'panic-without-cgroup',
    kind: 'call',
    runtimes: ['cri-o'],
    fix: 'ListPodSandboxStats ends the runtime while a container has no cgroup; it is answered from the cgroups',
  },
  {
    name: 'start-time-in-nanoseconds',
    kind: 'value',
    runtimes: ['containerd'],
    shows: /^container_start_time_seconds/,
    fix: '`container_start_time_seconds` is in seconds',
  },
  {
    name: 'seconds-cut',
    kind: 'form',
    fix: '`*_seconds_total` of our endpoint have their fractions; CRI has room for whole seconds only',
  },
  {
    name: 'labels-missing',
    kind: 'form',
    fix: 'every container family has container, id, image, name, namespace and pod, and its own labels',
  },
]

const majorOf = (version: string): number => Number(/^v?(\d+)\./.exec(version)?.[1] ?? Number.NaN)

function isOf({ kind, runtimes, since, goneIn }: Defect, runtime: RuntimeName | undefined): boolean {
  if (kind === 'call' && runtime?.isBehindServer === true) return false
  if (runtimes !== undefined && (runtime === undefined || !runtimes.includes(runtime.name))) return false
  const major = majorOf(runtime?.version ?? '')
  // A version that cannot be read is taken for a new one.
  return (since === undefined || !(major < since)) && (goneIn === undefined || major < goneIn)
}

/** Without a cgroup version: on either. */
export const isKnownDefect = (
  runtime: RuntimeName | undefined,
  name: DefectName,
  cgroups?: 'v1' | 'v2',
): boolean =>
  defects.some(
    (d) =>
      d.name === name &&
      isOf(d, runtime) &&
      (d.onlyOn === undefined || cgroups === undefined || d.onlyOn === cgroups),
  )

/** Wrong values that this runtime is known to report. */
export const wrongValuesOf = (runtime: RuntimeName): readonly Defect[] =>
  defects.filter((d) => d.kind === 'value' && d.runtimes !== undefined && isOf(d, runtime))

/** Known defects that explain a difference from the kernel in this family or field. */
export const defectsShownBy = (runtime: RuntimeName, family: string): readonly DefectName[] =>
  wrongValuesOf(runtime)
    .filter((d) => d.shows?.test(family) === true)
    .map((d) => d.name)
