// The pods of the benchmark and what each does: requests near the capacity of a small machine, and more demand than it has.

import type { MemoryQosSettings } from '../../src/core/memory-qos/settings.js'
import { applyPodDefaults } from '../../src/core/pod/defaults.js'
import { parsePod } from '../../src/core/pod/parse-pod.js'
import type { PodResources } from '../../src/core/pod/pod.js'

export interface Workload {
  readonly name: string
  readonly pod: PodResources
  /** Touches so much anonymous memory over and over, or reads a file of that size. */
  readonly kind: 'anon' | 'file'
  readonly MiB: number
  /** Starts so many seconds after the first. */
  readonly delayS: number
}

const pod = (name: string, resources: object): PodResources =>
  applyPodDefaults(
    parsePod({
      metadata: { name, namespace: 'bench', uid: `bench-${name}` },
      spec: { containers: [{ name: 'main', resources }] },
    }),
  )

const memory = (requests: string, limits?: string): object => ({
  requests: { memory: requests },
  ...(limits === undefined ? {} : { limits: { memory: limits } }),
})

/** Of the machine, in MiB: small, because a page fault is dear in a machine. */
export const memoryMiB = 640

/** Requests of 528 MiB on a machine of 640 MiB, of which the kernel leaves about 610; demand of about 1,020 MiB. */
export const workloads: readonly Workload[] = [
  {
    name: 'db',
    pod: pod('db', { limits: { memory: '128Mi', cpu: '100m' } }),
    kind: 'anon',
    MiB: 100,
    delayS: 0,
  },
  { name: 'web', pod: pod('web', memory('190Mi', '300Mi')), kind: 'file', MiB: 170, delayS: 0 },
  { name: 'api', pod: pod('api', memory('150Mi')), kind: 'anon', MiB: 95, delayS: 0 },
  { name: 'batch', pod: pod('batch', memory('60Mi', '240Mi')), kind: 'anon', MiB: 235, delayS: 4 },
  { name: 'noise', pod: pod('noise', {}), kind: 'anon', MiB: 420, delayS: 8 },
]
/** The one that brings the pressure. */
export const intruder = 'noise'

const on: MemoryQosSettings = {
  enabled: true,
  cgroupVersion: 2,
  generation: '1.27',
  factor: 0.9,
  policy: 'None',
}

export const modes: readonly { readonly name: string; readonly settings: MemoryQosSettings }[] = [
  { name: 'off', settings: { ...on, enabled: false, factor: undefined } },
  { name: 'throttling only', settings: on },
  { name: 'HardReservation', settings: { ...on, policy: 'HardReservation' } },
  { name: 'TieredReservation', settings: { ...on, policy: 'TieredReservation' } },
]

/** Pressure stall information of a cgroup or of the machine, over the time measured. */
export interface Stall {
  /** Seconds in which some task waited for memory, and in which every task that could run did. */
  readonly someS: number
  readonly fullS: number
  /** Mean of `some avg10`, in percent. */
  readonly avg10: number
}

export interface WorkloadResult {
  readonly name: string
  /** Anonymous memory or page cache, of what the workload wants; the mean over the time measured. */
  readonly keptShare: number
  readonly passes: number
  readonly throttled: number
  /** Since the workload began, so the way to full memory counts too. */
  readonly oomKills: number
  /** Undefined: the kernel has no PSI. */
  readonly stall?: Stall
}

export interface RunResult {
  readonly mode: string
  readonly swap: boolean
  /** memory.min and memory.low of kubepods. */
  readonly minMiB: number
  readonly lowMiB: number
  readonly capacityMiB: number
  /** How long it was measured: a machine in need comes late. */
  readonly seconds: number
  /** The longest that a timer of the measuring process, which nothing protects, came late. */
  readonly latestMs: number
  readonly stall?: Stall
  readonly workloads: readonly WorkloadResult[]
}
