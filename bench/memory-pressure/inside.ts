// Runs inside a machine: each mode with and without swap, the values written by the engine of keelson, the workloads as plain
// processes in the containers' cgroups. Writes one JSON file to $LAB_OUT.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { parseCount } from '../../src/core/kernel-text/digits.js'
import { parseFlatKeyed } from '../../src/core/kernel-text/flat-keyed.js'
import { planMemoryQos, type TargetsInput } from '../../src/core/memory-qos/targets.js'
import { oomScoreAdj } from '../../src/core/plan/oom-score-adj.js'
import { plannedValue } from '../../src/core/plan/planned-value.js'
import { qosClassOf } from '../../src/core/pod/qos-class.js'
import { bytes } from '../../src/core/units/bytes.js'
import { Container, ContainerState } from '../../src/cri-api/api.js'
import { MemoryQosEngine } from '../../src/memory-qos/engine.js'
import { nodeMeter, WorkloadMeter } from './meter.js'
import { intruder, modes, type RunResult, type Workload, workloads } from './scene.js'

const MiB = 1024 * 1024
const seconds = Number(process.env['BENCH_SECONDS'] ?? '25')
const out = process.env['LAB_OUT'] ?? '.'
const disk = '/run/bench-disk'
const hog = '/run/bench-hog'
const tree = createCgroupTree(readCgroupLayout())
const procfs = createProcfs()
const capacity = procfs.memInfo().get('MemTotal') ?? 0n

const run = (file: string, ...args: readonly string[]): void =>
  void execFileSync(file, [...args], { stdio: ['ignore', 'ignore', 'inherit'] })

const inputOf = (settings: TargetsInput['memoryQos']): TargetsInput => ({
  pods: workloads.map((w) => w.pod),
  memoryQos: settings,
  driver: 'cgroupfs',
  cgroupRoot: '/',
  cgroupsPerQOS: true,
  enforceNodeAllocatable: ['pods'],
  reserved: {
    amounts: { 'kube-reserved': new Map(), 'system-reserved': new Map() },
    cgroups: { 'kube-reserved': '', 'system-reserved': '' },
  },
  node: {
    memoryCapacity: bytes(capacity),
    allocatableMemory: bytes(capacity),
    pageSize: procfs.pageSize(),
    cpuQuota: { enforced: false, periodUs: 100_000n },
    swap: { behavior: 'NoSwap', capacity: undefined },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'linear',
  },
})

const idOf = (w: Workload): string => `container-${w.name}`
const pathOf = (input: TargetsInput, w: Workload): string => {
  const pod = planMemoryQos(input).targets.find((t) => t.level === 'pod' && t.pod?.name === w.name)
  if (pod === undefined) throw new Error(`no cgroup of ${w.name}`)
  return `${pod.path}/${idOf(w)}`
}

/** A runtime reduced to what the engine asks of it: which containers run, and `unified` into their files. */
const runtimeOf = (input: TargetsInput) => ({
  listContainers: async () => ({
    containers: workloads.map((w) =>
      Container.fromPartial({
        id: idOf(w),
        state: ContainerState.CONTAINER_RUNNING,
        labels: { 'io.kubernetes.pod.uid': w.pod.uid, 'io.kubernetes.container.name': 'main' },
      }),
    ),
  }),
  updateContainerResources: async (request: {
    containerId?: string
    linux?: { unified?: object } | undefined
  }) => {
    const w = workloads.find((one) => idOf(one) === request.containerId)
    if (w !== undefined) await tree.apply(pathOf(input, w), { ...request.linux?.unified })
    return {}
  },
})

/** Limits are not the engine's: a container has its own from the runtime. */
async function prepare(input: TargetsInput): Promise<void> {
  for (const w of workloads) {
    const path = pathOf(input, w)
    await tree.ensure(path)
    const limit = planMemoryQos(input).targets.find((t) => t.level === 'pod' && t.pod?.name === w.name)
    const max = limit?.others['memory.max']
    if (max !== undefined) tree.write(path, 'memory.max', max)
  }
  const engine = new MemoryQosEngine({
    cgroups: tree,
    runtime: runtimeOf(input),
    clock: createClock(),
    timeoutMs: 10_000,
    ownsOtherFiles: () => false,
  })
  const report = await engine.pass(input, { signal: new AbortController().signal })
  if (report.failures > 0) throw new Error(JSON.stringify(report.findings))
}

interface Running {
  readonly child: ChildProcess
  passes: number
}

/** As a kubelet sets it: whom the kernel kills first is not left to size alone. */
function scoreOf({ pod }: Workload): bigint {
  const [container] = pod.containers
  if (container === undefined) throw new Error('a pod without containers')
  return plannedValue(oomScoreAdj(pod, qosClassOf(pod), container, bytes(capacity))) ?? 0n
}

function start(w: Workload, path: string): Running {
  // The shell moves itself first, so that every page of the workload is charged to its cgroup. It is never killed for
  // memory, because it stands for the kubelet that starts a killed workload again; its child takes the pod's score.
  const once =
    w.kind === 'anon' ? `exec ${hog} ${w.MiB} 200` : `cat ${disk}/${w.name}.bin > /dev/null && echo pass`
  const script = `sleep ${w.delayS}
echo $$ > /sys/fs/cgroup${path}/cgroup.procs
echo -1000 > /proc/self/oom_score_adj
while :; do (echo ${scoreOf(w)} > /proc/self/oom_score_adj; ${once}); sleep 1; done`
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const running: Running = { child, passes: 0 }
  child.stdout?.on('data', (data: Buffer) => {
    running.passes += data.toString().split('\n').length - 1
  })
  return running
}

const read = (path: string, file: string): Uint8Array => tree.read(path, file) ?? new Uint8Array()
const kubepodsMiB = (file: string): number =>
  Math.round(Number(parseCount(read('/kubepods', file)) ?? 0n) / MiB)

async function clear(input: TargetsInput): Promise<void> {
  for (const w of workloads) {
    const path = pathOf(input, w)
    if (tree.exists(path)) tree.write(path, 'cgroup.kill', '1')
  }
  for (let i = 0; i < 100; i++) {
    const busy = workloads.some((w) => read(pathOf(input, w), 'cgroup.procs').length > 0)
    if (!busy) break
    await sleep(100)
  }
  await tree.remove('/kubepods', { timeoutMs: 20_000 })
  run('sync')
  writeFileSync('/proc/sys/vm/drop_caches', '3')
}

/**
 * Until the pressure is there to stay: the last one to come has been killed for the first time, or has once had all that it
 * wants. How long that takes is the machine's business; only what follows is measured.
 */
async function pressure(path: string, passes: () => number): Promise<void> {
  const killed = (): boolean => (parseFlatKeyed(read(path, 'memory.events')).get('oom_kill') ?? 0n) > 0n
  for (const end = Date.now() + 120_000; !killed() && passes() === 0 && Date.now() < end; ) await sleep(250)
}

const lookMs = 500
const hearMs = 100

async function measure(mode: (typeof modes)[number], swap: boolean): Promise<RunResult> {
  const input = inputOf(mode.settings)
  await prepare(input)
  const begun = workloads.map((w) => {
    const path = pathOf(input, w)
    return { w, path, running: start(w, path) }
  })
  const last = begun.find(({ w }) => w.name === intruder)
  if (last !== undefined) await pressure(last.path, () => last.running.passes)
  // What was said in a moment without memory is heard first.
  await sleep(hearMs)
  const machine = nodeMeter()
  const startedAt = Date.now()
  const meters = begun.map(({ w, path, running }) => new WorkloadMeter(tree, w, path, () => running.passes))
  // Often, and the mean: one look may fall between losing pages and reading them again.
  let latestMs = 0
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    const before = Date.now()
    await sleep(lookMs)
    latestMs = Math.max(latestMs, Date.now() - before - lookMs)
    for (const meter of [machine, ...meters]) meter.look()
  }
  await sleep(hearMs)
  const result: RunResult = {
    mode: mode.name,
    swap,
    minMiB: kubepodsMiB('memory.min'),
    lowMiB: kubepodsMiB('memory.low'),
    capacityMiB: Math.round(Number(capacity) / MiB),
    seconds: (Date.now() - startedAt) / 1000,
    latestMs,
    ...machine.result(),
    workloads: meters.map((meter) => meter.result()),
  }
  for (const { running } of begun) running.child.kill('SIGKILL')
  await clear(input)
  return result
}

const [data, swapDevice] = (process.env['LAB_DISKS'] ?? '').split(/\s+/)
if (data === undefined || swapDevice === undefined) throw new Error('two disks are needed')
mkdirSync(disk, { recursive: true })
run('mkfs.ext4', '-q', '-F', data)
run('mount', data, disk)
for (const w of workloads)
  if (w.kind === 'file')
    run('dd', 'if=/dev/zero', `of=${disk}/${w.name}.bin`, 'bs=1M', `count=${w.MiB}`, 'status=none')
copyFileSync(join(import.meta.dirname, 'hog'), hog)
run('mkswap', swapDevice)

const results: RunResult[] = []
for (const swap of [false, true]) {
  if (swap) run('swapon', swapDevice)
  for (const mode of modes) {
    const result = await measure(mode, swap)
    results.push(result)
    console.log(JSON.stringify(result))
  }
}
writeFileSync(`${out}/memory-pressure.json`, JSON.stringify(results))
process.exit(0)
