// The pods of the benchmark, how fast the memory of one of them grows, and what is kept of a run.

/** Of the machine, in MiB. */
export const memoryMiB = 1024
export const thresholdMiB = 100

export const modes = ['off', 'on'] as const
export type Mode = (typeof modes)[number]

/** MiB a second; each as often as the others. */
export const rates = [15, 30, 60, 120, 240] as const

interface PodOfScene {
  readonly name: string
  /** What it has from the start. */
  readonly MiB: number
  readonly resources: object
}

/** Keeps what it has, below its limit, the whole time. */
const database: PodOfScene = {
  name: 'database',
  MiB: 150,
  resources: { limits: { memory: '200Mi', cpu: '100m' } },
}
/** Has more than any other at first, and does not exceed what it asked for. */
const below: PodOfScene = { name: 'below', MiB: 180, resources: { requests: { memory: '240Mi' } } }

export interface Scene {
  readonly name: string
  readonly steady: readonly PodOfScene[]
  /** The one that grows: whose excess is the largest by far when memory runs short, and so the one to evict. */
  readonly grower: PodOfScene
}

export const scenes: readonly Scene[] = [
  {
    name: 'BestEffort hog grows',
    steady: [database, below, { name: 'above', MiB: 90, resources: { requests: { memory: '40Mi' } } }],
    grower: { name: 'hog', MiB: 20, resources: {} },
  },
  {
    name: 'Burstable above its request grows',
    steady: [database, below, { name: 'hog', MiB: 50, resources: {} }],
    grower: { name: 'above', MiB: 60, resources: { requests: { memory: '40Mi' } } },
  },
]

export interface RunResult {
  readonly mode: Mode
  readonly scene: string
  readonly rate: number
  readonly grower: string
  /** Names of pods, in order. */
  readonly evicted: readonly string[]
  readonly oomKilled: readonly string[]
  /** What happened to the growing pod first. */
  readonly first: 'eviction' | 'OOM killer' | 'neither'
  /** Restarts of the containers of pods that do not grow. */
  readonly restarts: Readonly<Record<string, number>>
  /** The least MemAvailable of /proc/meminfo. */
  readonly leastMiB: number
  /** From the decision to the end of the evicted pod. */
  readonly endedMs: number | undefined
  readonly seconds: number
}
