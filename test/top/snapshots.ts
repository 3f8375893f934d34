// Snapshots for tests of the terminal view: made by hand, every case of a column once.
import type { LiveContainer, LivePod, LiveSnapshot, LiveValues } from '../../src/core/dashboard/model.js'

const MiB = 1024 * 1024
const absent = { absent: 'not in this test' }

export const values = (more: {
  readonly usageMiB?: number
  readonly high?: number | 'max'
  readonly milli?: number
  readonly throttles?: number
}): LiveValues => ({
  cpu: { milli: more.milli ?? 0, throttledPercent: null },
  memory: {
    usage: String((more.usageMiB ?? 10) * MiB),
    workingSet: String(((more.usageMiB ?? 10) - 2) * MiB),
    cache: String(2 * MiB),
    min: '0',
    low: '0',
    high: more.high === undefined || more.high === 'max' ? 'max' : String(more.high * MiB),
    max: '209715200',
    highEvents: '7',
    maxEvents: '0',
    oomKills: '0',
    throttlesPerSecond: more.throttles ?? 0,
  },
  pressure: {
    cpu: { some: 1.25, full: 0 },
    memory: { some: 3.5, full: 1 },
    io: null,
  },
  io: { readPerSecond: 4096, writePerSecond: 0 },
})

export const container = (name: string, more: Partial<LiveContainer> = {}): LiveContainer => ({
  id: `id-${name}`,
  name,
  image: `registry.example/${name}:1`,
  cgroup: null,
  values: values({}),
  request: { cpuMilli: 100, memory: String(16 * MiB), from: 'memory.min' },
  next: { level: 'calm', text: 'no limits or thresholds' },
  ...more,
})

export const pod = (namespace: string, name: string, more: Partial<LivePod> = {}): LivePod => ({
  id: `id-${name}`,
  namespace,
  name,
  uid: `uid-${name}`,
  createdAt: '2026-01-02T03:04:05.000Z',
  phase: 'Running',
  restarts: 0,
  qosClass: 'Burstable',
  cgroup: `/kubepods/burstable/pod${name}`,
  source: 'cgroup',
  values: values({}),
  request: { cpuMilli: 100, memory: String(16 * MiB), from: 'memory.min' },
  next: { level: 'calm', text: 'no limits or thresholds' },
  network: { rxPerSecond: 1536, txPerSecond: 0 },
  containers: [container(`${name}-app`)],
  ...more,
})

export const snapshot = (pods: readonly LivePod[], more: Partial<LiveSnapshot> = {}): LiveSnapshot => ({
  time: '2026-01-02T03:04:05.000Z',
  server: { process: 'top', version: '0.0.0', periodMs: 2000 },
  node: {
    name: 'node-1',
    kernel: '6.1.0',
    cgroupVersion: 'v2',
    cpus: 4,
    memoryCapacity: '8589934592',
    memoryAvailable: '6442450944',
    cpuMilli: 1000,
    pressure: null,
    noPressure: 'this kernel has none',
  },
  runtime: { endpoint: 'unix:///run/x.sock', state: 'ready', problem: null, listAgeSeconds: null },
  pods,
  cgroups: absent,
  driver: absent,
  config: absent,
  sources: absent,
  cluster: absent,
  rpcs: absent,
  warnings: absent,
  ...more,
})

/** Throttled, near its threshold, unknown, and one of a virtual machine. */
export const fourPods: readonly LivePod[] = [
  pod('demo', 'web-0', {
    values: values({ usageMiB: 189, high: 190, milli: 250, throttles: 12.5 }),
    next: { level: 'act', text: 'throttled now at memory.high 190Mi' },
    containers: [
      container('app', { values: values({ usageMiB: 180, high: 190, milli: 240, throttles: 12.5 }) }),
      container('sidecar', { values: values({ usageMiB: 9 }) }),
    ],
  }),
  pod('demo', 'db-0', {
    values: values({ usageMiB: 175, high: 190, milli: 12_000 }),
    next: { level: 'watch', text: '15Mi until it is throttled' },
    request: { cpuMilli: 1000, memory: String(100 * MiB), from: 'oom_score_adj' },
  }),
  pod('shop', 'vm-0', {
    source: 'none',
    values: { cpu: null, memory: null, pressure: null, io: null },
    request: { cpuMilli: null, memory: null, from: null },
    network: null,
    cgroup: null,
    qosClass: null,
    containers: [container('guest', { values: values({ usageMiB: 50, milli: 5 }) })],
  }),
  pod('shop', 'empty-0', {
    values: { cpu: null, memory: null, pressure: null, io: null },
    network: null,
    containers: [],
  }),
]
