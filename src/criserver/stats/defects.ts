// Known defects in the values of runtimes. Only these are ever changed in a value that a runtime gave;
// docs/cri-server.md shows the same list.

export interface RuntimeName {
  /** As Version says it: `containerd`, `cri-o`. */
  readonly name: string
  readonly version: string
}

export type DefectName =
  | 'default-interface-repeated'
  | 'loopback-as-default'
  | 'host-network-counted'
  | 'threads-as-processes'
  | 'available-zero-when-unlimited'
  | 'rate-zero-when-unknown'
  | 'slow-pod-stats'
  | 'start-time-in-nanoseconds'
  | 'seconds-cut'
  | 'labels-missing'

interface Defect {
  readonly name: DefectName
  /** Names of runtimes; undefined: every runtime. */
  readonly runtimes?: readonly string[]
  /** The first major version without it; undefined: every version so far. */
  readonly goneIn?: number
  /** How we fix it. */
  readonly fix: string
}

const both = ['containerd', 'cri-o'] as const

export const defects: readonly Defect[] = [
  {
    name: 'default-interface-repeated',
    runtimes: ['containerd'],
    fix: 'taken out of `network.interfaces`, where CRI wants only the others',
  },
  {
    name: 'loopback-as-default',
    runtimes: ['cri-o'],
    fix: '`lo` as default interface is replaced by eth0, or the first other one',
  },
  {
    name: 'host-network-counted',
    runtimes: ['cri-o'],
    fix: "a pod on the node's network has no network values: they were the node's",
  },
  {
    name: 'threads-as-processes',
    runtimes: both,
    fix: '`process_count` counts processes (cgroup.procs), where pids.current was threads',
  },
  {
    name: 'available-zero-when-unlimited',
    runtimes: both,
    fix: '`available_bytes` 0 of a cgroup without a limit is unset',
  },
  {
    name: 'rate-zero-when-unknown',
    runtimes: both,
    fix: '`usage_nano_cores` 0 becomes our rate of at least one second, or unset',
  },
  {
    name: 'slow-pod-stats',
    runtimes: ['containerd'],
    goneIn: 2,
    fix: 'ListPodSandboxStats asks every shim in turn; it is answered from the cgroups, which the shims read too',
  },
  {
    name: 'start-time-in-nanoseconds',
    runtimes: ['containerd'],
    fix: '`container_start_time_seconds` is in seconds',
  },
  {
    name: 'seconds-cut',
    fix: '`*_seconds_total` of our endpoint have their fractions; CRI has room for whole seconds only',
  },
  {
    name: 'labels-missing',
    fix: 'every container family has container, id, image, name, namespace and pod, and its own labels',
  },
]

const majorOf = (version: string): number => Number(/^v?(\d+)\./.exec(version)?.[1] ?? Number.NaN)

export const isKnownDefect = (runtime: RuntimeName | undefined, name: DefectName): boolean =>
  defects.some((d) => {
    if (d.name !== name) return false
    if (d.runtimes !== undefined && (runtime === undefined || !d.runtimes.includes(runtime.name)))
      return false
    // A version that cannot be read is taken for a new one.
    return d.goneIn === undefined || majorOf(runtime?.version ?? '') < d.goneIn
  })
