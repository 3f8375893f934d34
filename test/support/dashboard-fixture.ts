// A node for the live views: cgroup v2 and /proc as files in memory, a scripted runtime on a real socket, log files.
// Tests change the files and look whether the change arrives.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { containersOf, type FixturePod, hexId, put, sandboxOf } from './stats-fixture.js'

const MiB = 1024 * 1024

export interface DashboardFixture {
  readonly cgroupRoot: string
  readonly proc: string
  readonly runtime: FakeRuntime
  readonly pods: readonly FixturePod[]
  /** Cgroup of a pod, or of one of its containers. */
  path(pod: number, container?: number): string
  read(path: string, file: string): string
  write(path: string, file: string, text: string | number): void
  /** The runtime lists so many pods from now on. */
  setPods(count: number): void
  /** CPU time passes and memory is used, in every pod. */
  work(): void
  close(): Promise<void>
}

const qosParent = ['/kubepods/burstable', '/kubepods', '/kubepods/besteffort'] as const
const names = ['web', 'db', 'batch', 'cache', 'api'] as const

const makePod = (i: number): FixturePod => {
  const name = `${names[i % names.length]}-${i}`
  const containers = [{ id: hexId('c', i * 2), name: 'app', files: {} }]
  if (i % 3 === 0) containers.push({ id: hexId('c', i * 2 + 1), name: 'sidecar', files: {} })
  return {
    sandboxId: hexId('a', i),
    namespace: i % 4 === 0 ? 'demo' : 'shop',
    name,
    uid: `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`,
    pid: 1000 + i,
    files: {},
    containers,
  }
}

const cgroupOf = (pod: FixturePod, i: number): string => `${qosParent[i % 3]}/pod${pod.uid}`

const pressure = (some: number): string =>
  `some avg10=${some.toFixed(2)} avg60=0.00 avg300=0.00 total=${Math.round(some * 1000)}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n`

const hostFiles: Readonly<Record<string, string>> = {
  cpuinfo: [0, 1, 2, 3].map((n) => `processor\t: ${n}\nphysical id\t: 0\ncore id\t: ${n}\n\n`).join(''),
  meminfo:
    'MemTotal:        8388608 kB\nMemFree:         4000000 kB\nMemAvailable:    6291456 kB\nSwapTotal:       0 kB\n',
  stat: 'cpu  100 0 50 1000 0 0 0 0 0 0\nbtime 1789000000\nprocesses 5\nprocs_running 1\nprocs_blocked 0\n',
  loadavg: '0.20 0.18 0.12 1/80 11206\n',
  diskstats: '   8       0 sda 10 1 80 5 20 2 160 7 0 11 12 0 0 0 0 0 0\n',
  'sys/kernel/pid_max': '4194304\n',
  'sys/kernel/threads-max': '63000\n',
  '1/net/dev': '  eth0: 900 9 0 0 0 0 0 0 800 8 0 0 0 0 0 0\n',
  'sys/kernel/osrelease': '6.1.0-test\n',
  'pressure/cpu': pressure(1.5),
  'pressure/memory': pressure(0.25),
  'pressure/io': pressure(0),
}

export interface DashboardFixtureOptions {
  readonly pods: number
  /** Without: a kernel that has no pressure files. */
  readonly psi?: boolean
}

/** What a cgroup holds at first: usage by its number, so that no two are alike. */
function cgroupFiles(n: number, high: number | 'max', psi: boolean): Record<string, string> {
  return {
    'memory.current': `${(20 + (n % 97)) * MiB}\n`,
    'memory.stat': `anon ${10 * MiB}\nfile ${8 * MiB}\ninactive_file ${4 * MiB}\nactive_file ${4 * MiB}\n`,
    'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n',
    'memory.min': `${16 * MiB}\n`,
    'memory.low': '0\n',
    'memory.high': `${high}\n`,
    'memory.max': `${high === 'max' ? 'max' : 200 * MiB}\n`,
    'cpu.stat': `usage_usec ${1_000_000 + n}\nuser_usec 1\nsystem_usec 1\nnr_periods 100\nnr_throttled 10\nthrottled_usec 5\n`,
    'io.stat': `8:0 rbytes=${n * 4096} wbytes=${n * 8192} rios=1 wios=1 dbytes=0 dios=0\n`,
    'cgroup.procs': '',
    ...(psi
      ? { 'memory.pressure': pressure(n % 7), 'cpu.pressure': pressure(1), 'io.pressure': pressure(0) }
      : {}),
  }
}

export async function createDashboardFixture({
  pods: count,
  psi = true,
}: DashboardFixtureOptions): Promise<DashboardFixture> {
  const directory = mkdtempSync('/dev/shm/keelson-live-')
  const [cgroupRoot, proc, logs] = ['cgroup', 'proc', 'logs'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  for (const [file, text] of Object.entries(hostFiles))
    if (psi || !file.startsWith('pressure/')) put(join(proc, file), text)
  mkdirSync(join(proc, 'self/ns'), { recursive: true })
  symlinkSync('net:[1]', join(proc, 'self/ns/net'))
  put(join(cgroupRoot, 'cgroup.controllers'), 'cpu io memory pids\n')
  put(join(cgroupRoot, 'cpu.stat'), 'usage_usec 900000000\nuser_usec 600000000\nsystem_usec 300000000\n')
  put(join(cgroupRoot, 'memory.stat'), 'anon 1000000000\nfile 2000000000\ninactive_file 500000000\n')
  put(join(cgroupRoot, 'cgroup.procs'), '1\n')
  const write = (path: string, file: string, text: string | number): void =>
    put(join(cgroupRoot, path, file), String(text).endsWith('\n') ? String(text) : `${text}\n`)
  for (const parent of ['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'])
    for (const [file, text] of Object.entries({ ...cgroupFiles(0, 'max', psi), 'memory.min': '0\n' }))
      write(parent, file, text)

  const all: FixturePod[] = []
  const layOut = (i: number): FixturePod => {
    const pod = makePod(i)
    const at = cgroupOf(pod, i)
    for (const [file, text] of Object.entries(cgroupFiles(i, 'max', psi))) write(at, file, text)
    write(`${at}/${pod.sandboxId}`, 'cgroup.procs', pod.pid)
    for (const [k, c] of pod.containers.entries()) {
      for (const [file, text] of Object.entries(cgroupFiles(i * 2 + k, 190 * MiB, psi)))
        write(`${at}/${c.id}`, file, text)
      put(
        join(logs, `${c.id}.log`),
        `2026-01-02T03:04:05.678Z stdout F ${pod.name} ${c.name} says hello\n2026-01-02T03:04:06.000Z stderr F and \x1b[31mred\x1b[0m\n`,
      )
    }
    mkdirSync(join(proc, `${pod.pid}/ns`), { recursive: true })
    symlinkSync(`net:[${pod.pid}]`, join(proc, `${pod.pid}/ns/net`))
    put(
      join(proc, `${pod.pid}/net/dev`),
      `Inter-|\n face |\n  eth0: ${1000 * i} 1 0 0 0 0 0 0 ${2000 * i} 1 0 0 0 0 0 0\n`,
    )
    return pod
  }
  let shown = count
  for (let i = 0; i < count; i++) all.push(layOut(i))
  const listed = (): readonly FixturePod[] => all.slice(0, shown)

  const runtime = await startFakeRuntime({
    Version: {
      value: { version: '0.1.0', runtimeName: 'scripted', runtimeVersion: 'v0.0.0', runtimeApiVersion: 'v1' },
    },
    ListPodSandbox: () => ({ value: { items: listed().map(sandboxOf) } }),
    ListContainers: () => ({ value: { containers: listed().flatMap(containersOf) } }),
    ContainerStatus: ({ containerId }) => ({
      value: {
        status: {
          id: containerId,
          logPath: join(logs, `${containerId}.log`),
          resources: { linux: { cpuShares: 102n, oomScoreAdj: 995n, memoryLimitInBytes: BigInt(200 * MiB) } },
        },
      },
    }),
  })
  let turn = 0
  const path = (pod: number, container?: number): string => {
    const one = all[pod]
    if (one === undefined) throw new Error(`no pod ${pod}`)
    const at = cgroupOf(one, pod)
    return container === undefined ? at : `${at}/${one.containers[container]?.id ?? 'none'}`
  }
  return {
    cgroupRoot,
    proc,
    runtime,
    pods: all,
    path,
    read: (at, file) => readFileSync(join(cgroupRoot, at, file), 'utf8').trim(),
    write,
    setPods(n) {
      for (let i = all.length; i < n; i++) all.push(layOut(i))
      shown = n
    },
    work() {
      turn++
      put(
        join(proc, 'stat'),
        `cpu  ${100 + turn * 40} 0 50 ${1000 + turn * 60} 0 0 0 0 0 0\nbtime 1789000000\nprocesses 5\nprocs_running 1\nprocs_blocked 0\n`,
      )
      for (const [i, pod] of listed().entries()) {
        const at = [path(i), ...pod.containers.map((_, k) => path(i, k))]
        for (const [k, one] of at.entries()) {
          write(
            one,
            'cpu.stat',
            `usage_usec ${1_000_000 + turn * (1000 + i * 10 + k)}\nnr_periods ${100 + turn * 10}\nnr_throttled ${10 + turn}\n`,
          )
          write(one, 'memory.current', (20 + ((i + turn) % 97)) * MiB)
        }
      }
    },
    async close() {
      await runtime.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
