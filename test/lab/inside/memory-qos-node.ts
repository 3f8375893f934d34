// A node for Memory QoS scenarios on a real kernel: the engine with the real tree of the machine's driver, and an independent pod
// runner that makes pods over CRI with a kubelet's labels.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { createClock } from '../../../src/adapters/clock/clock.js'
import { createProcfs } from '../../../src/adapters/procfs/procfs.js'
import { SystemdCgroupTree } from '../../../src/adapters/systemd/cgroup-tree.js'
import { SystemdManager } from '../../../src/adapters/systemd/manager.js'
import type { CgroupDriver } from '../../../src/core/cgroup/name.js'
import { settledValue } from '../../../src/core/kernel-text/read-back.js'
import { decodeText } from '../../../src/core/kernel-text/words.js'
import type { MemoryQosSettings } from '../../../src/core/memory-qos/settings.js'
import { planMemoryQos, qosFiles, type TargetsInput } from '../../../src/core/memory-qos/targets.js'
import { applyPodDefaults } from '../../../src/core/pod/defaults.js'
import { parsePod } from '../../../src/core/pod/parse-pod.js'
import { allContainers, type PodResources } from '../../../src/core/pod/pod.js'
import { type Bytes, bytes } from '../../../src/core/units/bytes.js'
import { memoryOf } from '../../../src/core/units/resource-list.js'
import type { Mount } from '../../../src/cri-api/api.js'
import { listRunning } from '../../../src/memory-qos/containers.js'
import { type EngineOptions, MemoryQosEngine } from '../../../src/memory-qos/engine.js'
import { observe } from '../../../src/memory-qos/observe-pods.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { connect, MiB } from './pod.js'

export const driver = (): CgroupDriver => (process.env['LAB_DRIVER'] === 'systemd' ? 'systemd' : 'cgroupfs')
export const signal = new AbortController().signal
export const clock = createClock()
let connected: CriClient | undefined
/** Connected on first use: outside the machine this file is only read for its names. */
export const client = (): CriClient => {
  connected ??= connect()
  return connected
}
const files = createCgroupTree(readCgroupLayout())
const pageSize = createProcfs().pageSize()
export const cgroups =
  driver() === 'systemd' ? new SystemdCgroupTree({ files, systemd: new SystemdManager(), pageSize }) : files

export const tiered: MemoryQosSettings = {
  enabled: true,
  cgroupVersion: 2,
  generation: '1.27',
  factor: 0.9,
  policy: 'TieredReservation',
}
export const hard: MemoryQosSettings = { ...tiered, policy: 'HardReservation' }
export const none: MemoryQosSettings = { ...tiered, policy: 'None' }
export const gateOff: MemoryQosSettings = { ...tiered, enabled: false, factor: undefined, policy: 'None' }

const capacity = (): Bytes => bytes(createProcfs().memInfo().get('MemTotal') ?? 0n)

export const nodeInput = (memoryQos: MemoryQosSettings): TargetsInput => ({
  pods: [],
  memoryQos,
  driver: driver(),
  cgroupRoot: '/',
  cgroupsPerQOS: true,
  enforceNodeAllocatable: ['pods'],
  reserved: {
    amounts: { 'kube-reserved': new Map(), 'system-reserved': new Map() },
    cgroups: { 'kube-reserved': '', 'system-reserved': '' },
  },
  node: {
    memoryCapacity: capacity(),
    allocatableMemory: capacity(),
    pageSize,
    cpuQuota: { enforced: true, periodUs: 100_000n },
    swap: { behavior: 'NoSwap', capacity: undefined },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'linear',
  },
})

export const newEngine = (more: Partial<EngineOptions> = {}): MemoryQosEngine =>
  new MemoryQosEngine({
    cgroups,
    runtime: client().runtime,
    clock,
    timeoutMs: 60_000,
    ownsOtherFiles: () => false,
    ...more,
  })

export const text = (path: string, file: string): string | undefined => {
  const content = cgroups.read(path, file)
  return content === undefined ? undefined : decodeText(content).trim()
}

export const podOf = (name: string, spec: object): PodResources =>
  applyPodDefaults(parsePod({ metadata: { name, namespace: 'lab', uid: `lab-${name}` }, spec }))

export interface StartOptions {
  readonly command?: readonly string[]
  readonly mounts?: readonly Partial<Mount>[]
  /** Also in `unified`, as a kubelet with the gate on would. */
  readonly unified?: Readonly<Record<string, string>>
  readonly swapLimit?: bigint
}

const idle = ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done']

export interface LabPod {
  readonly pod: PodResources
  readonly sandboxId: string
  readonly ids: ReadonlyMap<string, string>
  readonly path: string
  remove(): Promise<void>
}

/** The API object that a source of pods would show. */
export const podPath = (pod: PodResources): string => {
  const found = planMemoryQos({ ...nodeInput(tiered), pods: [pod] }).targets.find((t) => t.level === 'pod')
  assert.ok(found)
  return found.path
}

export async function startPod(pod: PodResources, options: StartOptions = {}): Promise<LabPod> {
  const path = podPath(pod)
  await cgroups.ensure(path)
  const logDirectory = `/tmp/pod-logs/${pod.name}`
  mkdirSync(logDirectory, { recursive: true })
  const labels = {
    'io.kubernetes.pod.name': pod.name,
    'io.kubernetes.pod.namespace': pod.namespace,
    'io.kubernetes.pod.uid': pod.uid,
  }
  // The node's network: no address is needed, and a bridge costs a second a pod.
  const config = {
    metadata: { name: pod.name, uid: pod.uid, namespace: pod.namespace, attempt: 0 },
    logDirectory,
    labels,
    linux: { cgroupParent: path, securityContext: { namespaceOptions: { network: 2, pid: 1 } } },
  }
  const { podSandboxId: sandboxId } = await client().runtime.runPodSandbox({ config })
  const ids = new Map<string, string>()
  for (const container of allContainers(pod)) {
    const limit = memoryOf(container.resources.limits)
    const { containerId } = await client().runtime.createContainer({
      podSandboxId: sandboxId,
      sandboxConfig: config,
      config: {
        metadata: { name: container.name, attempt: 0 },
        image: { image: 'keelson.local/busybox:1' },
        command: [...(options.command ?? idle)],
        mounts: [...(options.mounts ?? [])],
        logPath: `${container.name}.log`,
        labels: { ...labels, 'io.kubernetes.container.name': container.name },
        linux: {
          resources: {
            memoryLimitInBytes: limit,
            memorySwapLimitInBytes: options.swapLimit ?? 0n,
            unified: { ...options.unified },
          },
        },
      },
    })
    await client().runtime.startContainer({ containerId })
    ids.set(container.name, containerId)
  }
  return {
    pod,
    sandboxId,
    ids,
    path,
    async remove() {
      await client().runtime.stopPodSandbox({ podSandboxId: sandboxId })
      await client().runtime.removePodSandbox({ podSandboxId: sandboxId })
      await cgroups.remove(path)
    },
  }
}

/** Every file of the plan against the kernel; the number of files compared. */
export async function expectPlan(input: TargetsInput): Promise<number> {
  const { targets } = planMemoryQos(input)
  const running = await listRunning(client().runtime, signal, 60_000)
  let compared = 0
  for (const { target, path } of observe(cgroups, targets, running))
    for (const file of qosFiles) {
      const wanted = target.desired[file]
      if (wanted === undefined) continue
      assert.equal(text(path, file), settledValue(file, wanted, pageSize), `${path} ${file}`)
      compared++
    }
  return compared
}

/** The cgroup of a container, found as the engine finds it. */
export async function containerPath({ pod, path }: LabPod, name: string): Promise<string> {
  const running = await listRunning(client().runtime, signal, 60_000)
  const { targets } = planMemoryQos({ ...nodeInput(tiered), pods: [pod] })
  const found = observe(cgroups, targets, running).find((o) => o.target.container?.name === name)
  assert.ok(found, `no cgroup of ${name} below ${path}`)
  return found.path
}

export const mib = (n: number): string => String(n * MiB)
