// A node for tests of the statistics: a cgroup tree and a /proc on disk, read by the product's adapters; a runtime whose
// answers are values; a clock that is moved by hand.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unifiedHierarchy } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { keelsonError } from '../../src/core/errors.js'
import {
  type Container,
  ContainerState,
  Container as ContainerType,
  type DeepPartial,
  type PodSandbox,
  PodSandboxState,
  PodSandbox as PodSandboxType,
} from '../../src/cri-api/api.js'
import { FakeClock } from '../../src/fakes/clock.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { Metrics } from '../../src/ports/metrics.js'
import type { CriClient } from '../../src/ports/runtime.js'
import type { StatsFiles } from '../../src/ports/stats-files.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { createStats, type Stats } from '../../src/stats/create-stats.js'
import type { StatsOptions } from '../../src/stats/stats-options.js'

export const startNanos = 1_790_000_000_123_456_789n
export const hexId = (prefix: string, n: number): string =>
  prefix + n.toString(16).padStart(64 - prefix.length, '0')

const vectors = join(import.meta.dirname, '../vectors/cgroup-snapshots')

/** Files of a published snapshot. */
export const snapshotFiles = (name: string): Readonly<Record<string, string>> =>
  (JSON.parse(readFileSync(join(vectors, `${name}.json`), 'utf8')) as { files: Record<string, string> }).files

export function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

export interface FixtureContainer {
  readonly id: string
  readonly name: string
  readonly files: Readonly<Record<string, string>>
}

export interface FixturePod {
  readonly sandboxId: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly handler?: string
  readonly hostNetwork?: boolean
  readonly pid: number
  readonly netDev?: string
  readonly files: Readonly<Record<string, string>>
  readonly containers: readonly FixtureContainer[]
}

export const sandboxOf = (pod: FixturePod): PodSandbox =>
  PodSandboxType.fromPartial({
    id: pod.sandboxId,
    metadata: { name: pod.name, namespace: pod.namespace, uid: pod.uid, attempt: 0 },
    state: PodSandboxState.SANDBOX_READY,
    createdAt: startNanos - 3_600_000_000_000n,
    labels: {
      'io.kubernetes.pod.name': pod.name,
      'io.kubernetes.pod.namespace': pod.namespace,
      'io.kubernetes.pod.uid': pod.uid,
    },
    runtimeHandler: pod.handler ?? '',
  })

export const containersOf = (pod: FixturePod): Container[] =>
  pod.containers.map((c, i) =>
    ContainerType.fromPartial({
      id: c.id,
      podSandboxId: pod.sandboxId,
      metadata: { name: c.name, attempt: 0 },
      image: { image: `registry.example/${c.name}:1` },
      state: ContainerState.CONTAINER_RUNNING,
      createdAt: startNanos - 3_000_000_000_000n + BigInt(i),
      labels: { 'io.kubernetes.container.name': c.name },
    }),
  )

export const podCgroup = (pod: FixturePod): string => `/kubepods/burstable/pod${pod.uid}`

function layOutPod(root: string, proc: string, pod: FixturePod): void {
  const at = join(root, podCgroup(pod))
  for (const [file, text] of Object.entries(pod.files)) put(join(at, file), text)
  put(join(at, 'cgroup.procs'), '')
  put(join(at, pod.sandboxId, 'cgroup.procs'), `${pod.pid}\n`)
  for (const c of pod.containers)
    for (const [file, text] of Object.entries(c.files)) put(join(at, c.id, file), text)
  mkdirSync(join(proc, `${pod.pid}/ns`), { recursive: true })
  symlinkSync(pod.hostNetwork === true ? 'net:[1]' : `net:[${pod.pid}]`, join(proc, `${pod.pid}/ns/net`))
  put(join(proc, `${pod.pid}/net/dev`), pod.netDev ?? '')
}

const hostFiles: Readonly<Record<string, string>> = {
  meminfo:
    'MemTotal:        8000000 kB\nMemFree:         4000000 kB\nSwapTotal:       1000000 kB\nSwapFree:         900000 kB\nHugetlb:            2048 kB\n',
  stat: 'cpu  100 0 50 1000 0 0 0 0 0 0\nbtime 1789000000\nprocesses 5\nprocs_running 1\nprocs_blocked 0\n',
  loadavg: '0.20 0.18 0.12 1/80 11206\n',
  diskstats:
    '   8       0 sda 10 1 80 5 20 2 160 7 0 11 12 0 0 0 0 0 0\n   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n',
  'sys/kernel/pid_max': '4194304\n',
  'sys/kernel/threads-max': '63000\n',
  'pressure/cpu': 'some avg10=0.10 avg60=0.00 avg300=0.00 total=5000\n',
  'pressure/memory':
    'some avg10=0.00 avg60=0.00 avg300=0.00 total=6000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7000\n',
  'pressure/io':
    'some avg10=0.00 avg60=0.00 avg300=0.00 total=8000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9000\n',
  '1/net/dev': '    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n  eth0: 900 9 0 0 0 0 0 0 800 8 0 0 0 0 0 0\n',
}

/** Below `directory`: a cgroup v2 tree and /proc with these pods, and as much of /sys as device names need. */
export function layOutNode(
  directory: string,
  pods: readonly FixturePod[],
): { readonly root: string; readonly proc: string; readonly sys: string } {
  const root = join(directory, 'cgroup')
  const proc = join(directory, 'proc')
  for (const [file, text] of Object.entries(hostFiles)) put(join(proc, file), text)
  mkdirSync(join(proc, 'self/ns'), { recursive: true })
  symlinkSync('net:[1]', join(proc, 'self/ns/net'))
  mkdirSync(join(directory, 'sys/dev/block'), { recursive: true })
  symlinkSync('../../devices/pci/block/sda', join(directory, 'sys/dev/block/8:0'))
  put(join(root, 'cpu.stat'), 'usage_usec 900000000\nuser_usec 600000000\nsystem_usec 300000000\n')
  put(join(root, 'memory.stat'), 'anon 1000000000\nfile 2000000000\ninactive_file 500000000\nactive_file 1\n')
  put(join(root, 'cgroup.procs'), '1\n2\n')
  put(join(root, 'io.stat'), '8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n')
  for (const pod of pods) layOutPod(root, proc, pod)
  return { root, proc, sys: join(directory, 'sys') }
}

type Answers = Readonly<Record<string, (request: unknown) => unknown>>

/** Methods without an answer are unimplemented, as in an old runtime. */
function service(answers: Answers, calls: string[]): unknown {
  return new Proxy(
    {},
    {
      get(_target, name: string) {
        return (request: unknown, options?: { readonly signal?: AbortSignal }): unknown => {
          calls.push(name)
          const answer = answers[name]
          const work = async (): Promise<unknown> => {
            options?.signal?.throwIfAborted()
            if (answer === undefined)
              throw keelsonError('runtime.unimplemented', `call ${name}: UNIMPLEMENTED`, {
                grpcCode: 'UNIMPLEMENTED',
              })
            return await answer(request)
          }
          if (!name.startsWith('stream')) return work()
          return (async function* () {
            const messages = (await work()) as readonly unknown[]
            yield* messages
          })()
        }
      },
    },
  )
}

/** No filesystem values. */
export const noFiles: StatsFiles = {
  machineIds: async () => ({ machineId: '', systemUuid: '', bootId: '' }),
  capacity: async () => undefined,
  usage: async () => undefined,
  directories: async () => undefined,
}

export interface StatsFixture {
  readonly stats: Stats
  readonly clock: FakeClock
  readonly log: FakeLog
  readonly metrics: Metrics
  readonly cgroups: CgroupFsTree
  /** Cgroup root on disk. */
  readonly root: string
  /** Files read, as `path file`. */
  readonly reads: string[]
  /** RPCs, by method. */
  readonly calls: string[]
  answer(method: string, answer: ((request: unknown) => unknown) | undefined): void
  /** The connection was lost and is back. */
  reconnect(): void
  /** Moves the clock so that every loop has had its turn. */
  tick(ms?: number): Promise<void>
  close(): Promise<void>
}

export interface FixtureOptions {
  readonly pods: readonly FixturePod[]
  readonly stats?: Partial<StatsOptions>
  readonly answers?: Answers
}

export async function createStatsFixture({
  pods,
  stats: given = {},
  answers = {},
}: FixtureOptions): Promise<StatsFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-stats-'))
  const { root, proc } = layOutNode(directory, pods)

  const clock = new FakeClock(startNanos)
  const log = new FakeLog()
  const metrics = await createProcessMetrics({ processDefaults: false })
  const cgroups = new CgroupFsTree(unifiedHierarchy(root))
  const reads: string[] = []
  const counted: CgroupFsTree = Object.create(cgroups, {
    read: {
      value: (path: string, file: string) => {
        reads.push(`${path} ${file}`)
        return cgroups.read(path, file)
      },
    },
  }) as CgroupFsTree
  const calls: string[] = []
  const table: Record<string, (request: unknown) => unknown> = {
    listPodSandbox: () => ({ items: pods.map(sandboxOf) }),
    listContainers: () => ({ containers: pods.flatMap(containersOf) }),
    status: () => ({ info: {} }),
    version: () => ({ runtimeName: 'containerd', runtimeVersion: '2.0.0' }),
    ...answers,
  }
  const listeners: ((state: 'idle' | 'ready') => void)[] = []
  const runtime = service(table, calls) as unknown as CriClient['runtime']
  const client = {
    endpoint: 'unix:///run/fake.sock',
    socketPath: '/run/fake.sock',
    state: 'ready',
    onState(listener: (typeof listeners)[number]) {
      listeners.push(listener)
      return () => {}
    },
    close() {},
    runtime,
    image: service(table, calls),
    metrics: {
      list: async (options) => (await runtime.listPodSandboxMetrics({}, options)).podMetrics,
      async *stream(options) {
        for await (const m of runtime.streamPodSandboxMetrics({}, options)) yield m.podSandboxMetrics
      },
    } satisfies CriClient['metrics'],
  } as unknown as CriClient
  const stats = createStats({
    nodeName: 'node1',
    client,
    cgroups: counted,
    procfs: createProcfs({ proc, sys: join(directory, 'sys') }),
    files: noFiles,
    clock,
    log,
    metrics,
    fromCri: false,
    hugepageAware: true,
    slices: ['/kubepods'],
    machine: {
      processors: 4n,
      physicalCores: 2n,
      sockets: 1n,
      memoryBytes: 8_192_000_000n,
      swapBytes: 1_024_000_000n,
      machineId: 'm1',
      systemUuid: 's1',
      bootId: 'b1',
    },
    ...given,
  })
  const stop = new AbortController()
  const running = stats.run(stop.signal)
  // The runtime is asked for its name first, and then for values.
  for (let step = 0; step < 3; step++) await clock.advance(0)
  return {
    stats,
    clock,
    log,
    metrics,
    cgroups,
    root,
    reads,
    calls,
    answer(method, answer) {
      if (answer === undefined) delete table[method]
      else table[method] = answer
    },
    reconnect() {
      for (const listener of listeners) listener('idle')
      for (const listener of listeners) listener('ready')
    },
    async tick(ms = 10_000) {
      await clock.advance(ms)
      await clock.advance(0)
    },
    async close() {
      stop.abort(new Error('closed'))
      await running
      cgroups.close()
      rmSync(directory, { recursive: true })
    },
  }
}

export { decodePieces as text } from '../../src/stats/render/text-bytes.js'

export type { DeepPartial }
