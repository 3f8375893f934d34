// A node in memory for Memory QoS: a cgroup tree with the kernel's rules, pods with their cgroups, and a runtime that
// applies `unified` to the container's cgroup as runc does.

import { childPath } from '../../src/core/cgroup/path.js'
import { keelsonError } from '../../src/core/errors.js'
import type { MemoryQosSettings } from '../../src/core/memory-qos/settings.js'
import { planMemoryQos, type TargetsInput } from '../../src/core/memory-qos/targets.js'
import { applyPodDefaults } from '../../src/core/pod/defaults.js'
import { parsePod, parseResourceList } from '../../src/core/pod/parse-pod.js'
import type { PodResources } from '../../src/core/pod/pod.js'
import { bytes } from '../../src/core/units/bytes.js'
import { Container, ContainerState } from '../../src/cri-api/api.js'
import type { FakeCgroupsOptions } from '../../src/fakes/cgroup-state.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import { FakeClock } from '../../src/fakes/clock.js'
import { type EngineOptions, MemoryQosEngine } from '../../src/memory-qos/engine.js'
import type { RuntimeService } from '../../src/ports/runtime.js'

export const MiB = 2n ** 20n
export const mib = (n: number): string => (BigInt(n) * MiB).toString()

export const tiered: MemoryQosSettings = {
  enabled: true,
  cgroupVersion: 2,
  generation: '1.27',
  factor: 0.9,
  policy: 'TieredReservation',
}
export const hard: MemoryQosSettings = { ...tiered, policy: 'HardReservation' }
export const gateOff: MemoryQosSettings = { ...tiered, enabled: false, factor: undefined, policy: 'None' }

export interface Amounts {
  readonly request?: string
  readonly limit?: string
  readonly cpu?: string
}

const resources = ({ request, limit, cpu }: Amounts): object => ({
  requests: { ...(request === undefined ? {} : { memory: request }), ...(cpu === undefined ? {} : { cpu }) },
  limits: { ...(limit === undefined ? {} : { memory: limit }), ...(cpu === undefined ? {} : { cpu }) },
})

export const makePod = (
  name: string,
  containers: Readonly<Record<string, Amounts>>,
  more: object = {},
): PodResources =>
  applyPodDefaults(
    parsePod({
      metadata: { name, namespace: 'default', uid: `uid-${name}` },
      spec: {
        containers: Object.entries(containers).map(([container, a]) => ({
          name: container,
          resources: resources(a),
        })),
        ...more,
      },
    }),
  )

export const guaranteed = (name: string, memory: string): PodResources =>
  makePod(name, { app: { request: memory, limit: memory, cpu: '100m' } })

export interface MemoryFixture {
  readonly cgroups: FakeCgroupTree
  readonly clock: FakeClock
  readonly engine: MemoryQosEngine
  input: TargetsInput
  /** Ids by `pod/container`. */
  readonly ids: Map<string, string>
  readonly updates: { readonly containerId: string; readonly unified: Readonly<Record<string, string>> }[]
  /** A runtime that answers and does nothing. */
  ignoresUnified: boolean
  run(pod: PodResources): Promise<void>
  end(pod: PodResources): Promise<void>
  restart(pod: PodResources, container: string): Promise<string>
  pass(): ReturnType<MemoryQosEngine['pass']>
  newEngine(more?: Partial<EngineOptions>): MemoryQosEngine
  text(path: string, file: string): string | undefined
  containerPath(pod: PodResources, container: string): string
  /** Tests may put another call in its place. */
  readonly runtime: {
    listContainers: RuntimeService['listContainers']
    updateContainerResources: RuntimeService['updateContainerResources']
  }
}

export const emptyInput = (memoryQos: MemoryQosSettings): TargetsInput => ({
  pods: [],
  memoryQos,
  driver: 'cgroupfs',
  cgroupRoot: '/',
  cgroupsPerQOS: true,
  enforceNodeAllocatable: ['pods'],
  reserved: {
    amounts: { 'kube-reserved': new Map(), 'system-reserved': new Map() },
    cgroups: { 'kube-reserved': '', 'system-reserved': '' },
  },
  node: {
    memoryCapacity: bytes(8192n * MiB),
    allocatableMemory: bytes(8000n * MiB),
    pageSize: 4096n,
    cpuQuota: { enforced: true, periodUs: 100_000n },
    swap: { behavior: 'NoSwap', capacity: undefined },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'linear',
  },
})

export const withKubeReserved = (input: TargetsInput, path: string, memory: string): TargetsInput => ({
  ...input,
  enforceNodeAllocatable: ['pods', 'kube-reserved'],
  reserved: {
    amounts: {
      'kube-reserved': parseResourceList({ memory }, 'kubeReserved'),
      'system-reserved': new Map(),
    },
    cgroups: { 'kube-reserved': path, 'system-reserved': '' },
  },
})

export async function startFixture(
  memoryQos: MemoryQosSettings,
  engineOptions: Partial<EngineOptions> = {},
  kernel: FakeCgroupsOptions = {},
): Promise<MemoryFixture> {
  const cgroups = new FakeCgroupTree(kernel)
  const clock = new FakeClock()
  const containers = new Map<string, { container: Container; path: string }>()
  const ids = new Map<string, string>()
  const updates: MemoryFixture['updates'] = []
  let serial = 0

  const start = async (pod: PodResources, name: string, podPath: string): Promise<string> => {
    const id = (++serial).toString(16).padStart(64, 'c')
    const path = childPath(podPath, id)
    await cgroups.ensure(path)
    cgroups.kernel.attach(path, 1000 + serial)
    const labels = {
      'io.kubernetes.pod.uid': pod.uid,
      'io.kubernetes.pod.name': pod.name,
      'io.kubernetes.pod.namespace': pod.namespace,
      'io.kubernetes.container.name': name,
    }
    const container = Container.fromPartial({
      id,
      labels,
      state: ContainerState.CONTAINER_RUNNING,
      createdAt: BigInt(serial),
    })
    containers.set(id, { container, path })
    ids.set(`${pod.name}/${name}`, id)
    return id
  }
  const podPathOf = (pod: PodResources): string => {
    const path = planMemoryQos({ ...fixture.input, pods: [pod] }).targets.find((t) => t.level === 'pod')?.path
    if (path === undefined) throw new Error(`no path of ${pod.name}`)
    return path
  }
  const stop = async (id: string): Promise<void> => {
    const found = containers.get(id)
    if (found === undefined) return
    for (const pid of cgroups.kernel.text(found.path, 'cgroup.procs')?.split('\n') ?? [])
      cgroups.kernel.detach(Number(pid))
    await cgroups.remove(found.path)
    containers.delete(id)
  }
  const runtime: MemoryFixture['runtime'] = {
    listContainers: async () => ({ containers: [...containers.values()].map((c) => c.container) }),
    updateContainerResources: async (request) => {
      const id = request.containerId ?? ''
      const found = containers.get(id)
      if (found === undefined) throw keelsonError('runtime.not-found', `container ${id}`)
      const unified = (request.linux?.unified ?? {}) as Record<string, string>
      updates.push({ containerId: id, unified })
      if (!fixture.ignoresUnified)
        for (const [file, value] of Object.entries(unified)) cgroups.kernel.write(found.path, file, value)
      return {}
    },
  }
  const newEngine = (more: Partial<EngineOptions> = {}): MemoryQosEngine =>
    new MemoryQosEngine({
      cgroups,
      runtime,
      clock,
      timeoutMs: 1000,
      ownsOtherFiles: () => false,
      ...engineOptions,
      ...more,
    })
  const engine = newEngine()
  const fixture: MemoryFixture = {
    cgroups,
    clock,
    engine,
    input: emptyInput(memoryQos),
    ids,
    updates,
    ignoresUnified: false,
    runtime,
    newEngine,
    async run(pod) {
      fixture.input = { ...fixture.input, pods: [...fixture.input.pods, pod] }
      const path = podPathOf(pod)
      await cgroups.ensure(path)
      const all = [...pod.initContainers, ...pod.containers, ...pod.ephemeralContainers]
      for (const { name } of all) await start(pod, name, path)
    },
    async end(pod) {
      for (const [key, id] of ids) if (key.startsWith(`${pod.name}/`)) await stop(id)
      await cgroups.remove(podPathOf(pod))
      fixture.input = { ...fixture.input, pods: fixture.input.pods.filter((p) => p.uid !== pod.uid) }
    },
    async restart(pod, name) {
      await stop(ids.get(`${pod.name}/${name}`) ?? '')
      return start(pod, name, podPathOf(pod))
    },
    pass: () => engine.pass(fixture.input, { signal: new AbortController().signal }),
    text: (path, file) => cgroups.kernel.text(path, file),
    containerPath: (pod, name) => childPath(podPathOf(pod), ids.get(`${pod.name}/${name}`) ?? ''),
  }
  await cgroups.ensure('/kubepods/burstable')
  await cgroups.ensure('/kubepods/besteffort')
  return fixture
}
