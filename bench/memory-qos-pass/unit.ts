// `memory-qos-pass`: a reconcile pass that finds nothing to do, over 110 to 500 pods with two containers each. The tree is a
// directory in memory with the files of cgroup v2, so that any machine can run it; reading them costs about the same.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createClock } from '../../src/adapters/clock/clock.js'
import { planMemoryQos, type TargetsInput } from '../../src/core/memory-qos/targets.js'
import { parsePod } from '../../src/core/pod/parse-pod.js'
import type { PodResources } from '../../src/core/pod/pod.js'
import { bytes } from '../../src/core/units/bytes.js'
import { Container, ContainerState } from '../../src/cri-api/api.js'
import { MemoryQosEngine } from '../../src/memory-qos/engine.js'
import { type BenchReport, type BenchTarget, type BenchUnit, median } from '../unit.js'

const sizes = [110, 220, 330, 500]
const runs = 15
const warmUp = 20
const GiB = 2n ** 30n

const names = ['app', 'side'] as const

const podOf = (n: number): PodResources =>
  parsePod({
    metadata: { name: `p${n}`, namespace: 'bench', uid: `uid-${n}` },
    spec: {
      containers: names.map((name) => ({
        name,
        resources: { requests: { memory: '64Mi' }, limits: { memory: '128Mi' } },
      })),
    },
  })

const inputOf = (pods: readonly PodResources[]): TargetsInput => ({
  pods,
  memoryQos: {
    enabled: true,
    cgroupVersion: 2,
    generation: '1.27',
    factor: 0.9,
    policy: 'TieredReservation',
  },
  driver: 'cgroupfs',
  cgroupRoot: '/',
  cgroupsPerQOS: true,
  enforceNodeAllocatable: ['pods'],
  reserved: {
    amounts: { 'kube-reserved': new Map(), 'system-reserved': new Map() },
    cgroups: { 'kube-reserved': '', 'system-reserved': '' },
  },
  node: {
    memoryCapacity: bytes(256n * GiB),
    allocatableMemory: bytes(256n * GiB),
    pageSize: 4096n,
    cpuQuota: { enforced: true, periodUs: 100_000n },
    swap: { behavior: 'NoSwap', capacity: undefined },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'linear',
  },
})

const idOf = (pod: string, name: string): string => `${pod}-${name}`.padEnd(64, '0')

function makeFiles(root: string, input: TargetsInput): void {
  const contents = {
    'memory.min': '0',
    'memory.low': '0',
    'memory.high': 'max',
    'memory.max': 'max',
    'memory.current': '12345344',
    'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0',
  }
  for (const { level, path, pod } of planMemoryQos(input).targets) {
    const at = level === 'container' ? undefined : join(root, path)
    const all = at === undefined ? [] : [at]
    if (level === 'pod') for (const name of names) all.push(join(root, path, idOf(pod?.uid ?? '', name)))
    for (const directory of all) {
      mkdirSync(directory, { recursive: true })
      for (const [file, text] of Object.entries(contents)) writeFileSync(join(directory, file), `${text}\n`)
    }
  }
}

interface Measured {
  readonly pods: number
  readonly cpuMs: number
  readonly writes: number
  readonly calls: number
}

async function measure(pods: number, signal: AbortSignal): Promise<Measured> {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'keelson-pass-'))
  const input = inputOf(Array.from({ length: pods }, (_, n) => podOf(n)))
  makeFiles(root, input)
  const tree = new CgroupFsTree(
    {
      version: 'v2',
      roots: [root],
      controllers: new Map(),
      runtimeRoots: [],
      file: (path, file) => join(root, path, file),
    },
    { maxDescriptors: 20_000 },
  )
  const containers = input.pods.flatMap((pod) =>
    names.map((name) =>
      Container.fromPartial({
        id: idOf(pod.uid, name),
        state: ContainerState.CONTAINER_RUNNING,
        labels: { 'io.kubernetes.pod.uid': pod.uid, 'io.kubernetes.container.name': name },
      }),
    ),
  )
  const paths = new Map(
    planMemoryQos(input).targets.flatMap((t) =>
      t.level === 'container' ? [[idOf(t.pod?.uid ?? '', t.container?.name ?? ''), t.path]] : [],
    ),
  )
  const engine = new MemoryQosEngine({
    cgroups: tree,
    runtime: {
      listContainers: async () => ({ containers }),
      updateContainerResources: async (request) => {
        const id = request.containerId ?? ''
        await tree.apply(`${paths.get(id) ?? ''}/${id}`, { ...request.linux?.unified } as Record<
          string,
          string
        >)
        return {}
      },
    },
    clock: createClock(),
    timeoutMs: 10_000,
    ownsOtherFiles: () => false,
  })
  try {
    for (let i = 0; i < warmUp; i++) await engine.pass(input, { signal })
    const times: number[] = []
    let writes = 0
    let calls = 0
    for (let i = 0; i < runs; i++) {
      const before = process.cpuUsage()
      const report = await engine.pass(input, { signal })
      const { system, user } = process.cpuUsage(before)
      times.push((system + user) / 1000)
      writes += report.writes
      calls += report.calls
    }
    return { pods, cpuMs: median(times), writes, calls }
  } finally {
    tree.close()
    rmSync(root, { recursive: true, force: true })
  }
}

const maxGrowth = 1.3

function targetsOf(measured: readonly Measured[]): readonly BenchTarget[] {
  const changes = measured.reduce((sum, m) => sum + m.writes + m.calls, 0)
  const [first] = measured
  const last = measured.at(-1)
  if (first === undefined || last === undefined) return []
  const growth = last.cpuMs / last.pods / (first.cpuMs / first.pods)
  return [
    {
      name: 'writes and changing calls of passes without a change',
      measured: String(changes),
      limit: '0',
      met: changes === 0,
    },
    {
      name: `CPU time per pod, ${last.pods} pods against ${first.pods}`,
      measured: `${growth.toFixed(2)}x`,
      limit: `<= ${maxGrowth}x`,
      met: growth <= maxGrowth,
    },
  ]
}

export const memoryQosPass: BenchUnit = {
  name: 'memory-qos-pass',
  summary: 'CPU time of a Memory QoS pass that finds nothing to do, 110 to 500 pods',
  async run(signal): Promise<BenchReport> {
    const measured: Measured[] = []
    for (const size of sizes) {
      signal.throwIfAborted()
      measured.push(await measure(size, signal))
    }
    return {
      file: 'memory-qos-pass',
      title: 'A Memory QoS pass without a change',
      method: `Two Burstable containers a pod, TieredReservation, factor 0.9. After ${warmUp} passes, which write everything, ${runs} passes are measured: planning all pods, listing containers (in memory), reading six files of every container and four of every other cgroup, deciding. Median CPU time of the process, user and system.`,
      columns: ['pods', 'CPU ms a pass', 'us a pod', 'writes', 'changing calls'],
      rows: measured.map((m) => [
        String(m.pods),
        m.cpuMs.toFixed(1),
        ((m.cpuMs * 1000) / m.pods).toFixed(0),
        String(m.writes),
        String(m.calls),
      ]),
      targets: targetsOf(measured),
    }
  },
}
