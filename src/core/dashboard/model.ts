// The picture of a node that the dashboard and `keelson top` show, as it travels in JSON. Null means unknown, which is not
// the same as 0; a part that has nothing says why.

/** Decimal digits, or `max`: numbers of 64 bits do not fit into the doubles of JSON. */
export type Amount = string

/** Part of a snapshot that not every process has. */
export type Part<T> = { readonly data: T } | { readonly absent: string }

/** Percent of the last ten seconds in which some, or all, tasks waited. */
export interface LivePressure {
  readonly some: number
  readonly full: number
}

export interface LivePressures {
  readonly cpu: LivePressure | null
  readonly memory: LivePressure | null
  readonly io: LivePressure | null
}

export interface LiveMemory {
  readonly usage: Amount
  readonly workingSet: Amount
  readonly cache: Amount | null
  readonly min: Amount | null
  readonly low: Amount | null
  readonly high: Amount | null
  readonly max: Amount | null
  /** Lines of memory.events, since the cgroup was made. */
  readonly highEvents: Amount | null
  readonly maxEvents: Amount | null
  readonly oomKills: Amount | null
  /** Times a second that memory.high was passed, since the last reading. */
  readonly throttlesPerSecond: number | null
}

export interface LiveCpu {
  /** Thousandths of a processor, since the last reading. */
  readonly milli: number | null
  /** Percent of the scheduling periods since the last reading in which the quota ran out; null without a quota. */
  readonly throttledPercent: number | null
}

export interface LiveIo {
  readonly readPerSecond: number
  readonly writePerSecond: number
}

export interface LiveValues {
  readonly cpu: LiveCpu | null
  readonly memory: LiveMemory | null
  readonly pressure: LivePressures | null
  readonly io: LiveIo | null
}

export type RequestOrigin = 'spec' | 'memory.min' | 'memory.low' | 'limit' | 'oom_score_adj'

export interface LiveRequest {
  readonly cpuMilli: number | null
  readonly memory: Amount | null
  /** What the memory request was read from; `oom_score_adj` is exact to a thousandth of the node's memory only. */
  readonly from: RequestOrigin | null
}

export interface LiveNext {
  /** How soon to look at it. */
  readonly level: 'calm' | 'watch' | 'act'
  readonly text: string
}

export interface LiveContainer {
  readonly id: string
  readonly name: string
  /** As the pod names it; the runtime's id while only that is known. */
  readonly image: string
  readonly cgroup: string | null
  readonly values: LiveValues
  readonly request: LiveRequest
  /** What the kernel does to its memory now, or next. */
  readonly next: LiveNext
}

export type LiveSource = 'cgroup' | 'cri' | 'none'

export interface LivePod {
  /** Id of its sandbox. */
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly createdAt: string
  /** As far as the runtime tells. `Ended`: no container runs any more. */
  readonly phase: 'Running' | 'Pending' | 'Ended'
  /** Of all its containers. */
  readonly restarts: number
  readonly qosClass: string | null
  readonly cgroup: string | null
  /** Where the values come from; `none`: there are none. */
  readonly source: LiveSource
  readonly values: LiveValues
  readonly request: LiveRequest
  readonly next: LiveNext
  readonly network: { readonly rxPerSecond: number; readonly txPerSecond: number } | null
  readonly containers: readonly LiveContainer[]
}

export interface LiveNode {
  readonly name: string
  readonly kernel: string
  readonly cgroupVersion: 'v1' | 'v2' | null
  readonly cpus: number
  readonly memoryCapacity: Amount
  readonly memoryAvailable: Amount
  readonly cpuMilli: number | null
  readonly pressure: LivePressures | null
  /** Why there is no pressure. */
  readonly noPressure: string | null
}

export interface LiveRuntime {
  readonly endpoint: string
  readonly state: 'ready' | 'away' | 'starting'
  /** What the last call said, while it is away. */
  readonly problem: string | null
  /** Seconds since the list of pods was last good; null while it is good, and when there never was one. */
  readonly listAgeSeconds: number | null
}

/** Whether the pods are known: before the first list, no pods in the picture does not mean that none run. */
export const hasList = ({ state, listAgeSeconds }: Pick<LiveRuntime, 'state' | 'listAgeSeconds'>): boolean =>
  state === 'ready' || listAgeSeconds !== null

/** One control file of one cgroup. */
export interface LiveValue {
  readonly file: string
  /** Null: it is not planned here. */
  readonly intended: Amount | null
  readonly reason: string | null
  readonly written: Amount | null
  /** What the kernel keeps of it below all ancestors. */
  readonly effective: Amount | null
  readonly cappedBy: string | null
}

export interface LiveCgroupRow {
  readonly path: string
  readonly depth: number
  /** `kubepods`, `burstable`, a pod's or a container's name. */
  readonly title: string
  readonly usage: Amount | null
  readonly files: readonly LiveValue[]
}

export interface LiveDriver {
  readonly driver: string | null
  readonly source: string
  readonly fallback: string | null
  readonly overruled: string | null
  readonly runtimeDiffers: string | null
  /** Running sandboxes whose cgroups agree with it. */
  readonly agreeing: number | null
  /** What it was decided on, and what stands against it. */
  readonly evidence: readonly string[]
}

export interface LiveSetting {
  readonly path: string
  readonly value: string
  readonly origin: string
}

export interface LiveSources {
  /** Whether the runtime is asked first; null: the values of a CRI server, which completes the runtime's. */
  readonly fromCri: boolean | null
  readonly endpoints: readonly {
    readonly endpoint: string
    readonly source: string | null
    readonly runtime: string | null
  }[]
  /** Names that KEP-2371 asks for, against what /metrics/cadvisor shows at this moment. */
  readonly parity: { readonly present: number; readonly absent: readonly string[] } | null
  /** Wrong values of the runtime that were replaced from the kernel or left out. */
  readonly repaired: readonly LiveRepaired[]
}

interface LiveRepaired {
  readonly runtime: string
  readonly version: string
  readonly family: string
  readonly reason: string
  readonly count: number
}

/** The node as a member of its cluster. */
export interface LiveCluster {
  /** URL of the API server. */
  readonly server: string
  /** Status of the condition Ready, as the API server has it. */
  readonly ready: string | null
  readonly isSchedulable: boolean
  readonly problems: readonly string[]
}

export interface LiveRpc {
  readonly rpc: string
  readonly forwarded: number
  readonly completed: number
  readonly answered: number
  readonly failed: number
  readonly missing: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface LiveWarning {
  readonly id: string
  readonly severity: 'info' | 'warn' | 'error'
  readonly message: string
  /** Empty: nothing to do. */
  readonly remedy: string
  readonly evidence: readonly string[]
  /** Where it is explained, from the repository's root. */
  readonly page: string
}

export interface LiveSnapshot {
  readonly time: string
  readonly server: { readonly process: string; readonly version: string; readonly periodMs: number }
  readonly node: LiveNode
  readonly runtime: LiveRuntime
  readonly pods: readonly LivePod[]
  readonly cgroups: Part<readonly LiveCgroupRow[]>
  readonly driver: Part<LiveDriver>
  readonly config: Part<readonly LiveSetting[]>
  readonly sources: Part<LiveSources>
  readonly cluster: Part<LiveCluster>
  readonly rpcs: Part<readonly LiveRpc[]>
  readonly warnings: Part<readonly LiveWarning[]>
}

/** Keys: every part of the snapshot except `pods` and the rows of `cgroups`; `pod ID` and `cgroup PATH` for each of those. */
export interface LiveChange {
  /** Everything is in `set`; what was known before is over. */
  readonly whole: boolean
  readonly set: Readonly<Record<string, unknown>>
  readonly remove: readonly string[]
}

/** What the charts draw, in the order in which a history keeps it. */
export const trackKeys = [
  'workingSet',
  'cpu',
  'throttles',
  'memoryPressure',
  'cpuPressure',
  'ioPressure',
  'received',
  'sent',
  'read',
  'written',
] as const

export type TrackValues = Readonly<Record<(typeof trackKeys)[number], number | null>>

/** One moment of a pod. */
export const podMoment = ({ values, network }: Pick<LivePod, 'values' | 'network'>): TrackValues => ({
  workingSet: values.memory === null ? null : Number(values.memory.workingSet),
  cpu: values.cpu?.milli ?? null,
  throttles: values.memory?.throttlesPerSecond ?? null,
  ...pressureMoment(values.pressure),
  received: network?.rxPerSecond ?? null,
  sent: network?.txPerSecond ?? null,
  read: values.io?.readPerSecond ?? null,
  written: values.io?.writePerSecond ?? null,
})

const pressureMoment = (p: LivePressures | null) => ({
  memoryPressure: p?.memory?.some ?? null,
  cpuPressure: p?.cpu?.some ?? null,
  ioPressure: p?.io?.some ?? null,
})

/** Known as far as a pod's is: nothing known is not 0. */
const sumOf = (values: readonly (number | null)[]): number | null =>
  values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null)

/** One moment of the node: its own CPU and pressure, and the sums of its pods. */
export function nodeMoment({ node, pods }: Pick<LiveSnapshot, 'node' | 'pods'>): TrackValues {
  const moments = pods.map(podMoment)
  const sum = (key: keyof TrackValues): number | null => sumOf(moments.map((m) => m[key]))
  return {
    workingSet: sum('workingSet'),
    cpu: node.cpuMilli,
    throttles: sum('throttles'),
    ...pressureMoment(node.pressure),
    received: sum('received'),
    sent: sum('sent'),
    read: sum('read'),
    written: sum('written'),
  }
}

/** Of the node or of one pod, oldest first. */
export interface LiveTrack {
  /** Unix seconds. */
  readonly times: readonly number[]
  readonly values: Readonly<Record<keyof TrackValues, readonly (number | null)[]>>
}
