// Owner mode whole: the real `keelson kubelet` runs static pods of every class and kind of container on real containerd, is
// restarted with other settings, and the kernel is read back. Expected values are worked out here, not by the product.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatCgroupPath } from '../../../src/core/cgroup/name.js'
import { findContainerCgroup, podCgroupName } from '../../../src/core/cgroup/pod-cgroup.js'
import type { QosClass } from '../../../src/core/pod/pod.js'
import { ContainerState, PodSandboxState } from '../../../src/cri-api/api.js'
import type { Check } from '../../support/check.js'
import { commandFromHere, LabKubelet, startKeelson } from './lab-kubelet.js'
import { cgroups, client, driver, mib, text } from './memory-qos-node.js'

await commandFromHere()

type Policy = 'TieredReservation' | 'HardReservation' | 'None' | 'gate off'
interface Settings {
  readonly policy: Policy
  /** Null: unset. */
  readonly factor: number | null
  readonly more?: string
}
const normal: Settings = { policy: 'TieredReservation', factor: 0.9 }

const configOf = ({ policy, factor, more = '' }: Settings): string =>
  policy === 'gate off'
    ? more
    : `featureGates: {MemoryQoS: true}\nmemoryReservationPolicy: ${policy}\nmemoryThrottlingFactor: ${factor}\n${more}`

const forever = ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done']
const container = (name: string, resources: object, more: object = {}): object => ({
  name,
  image: 'keelson.local/busybox:1',
  imagePullPolicy: 'Never',
  command: forever,
  resources,
  ...more,
})
const amounts = (request: number, limit: number | undefined): object => ({
  requests: { memory: `${request}Mi` },
  ...(limit === undefined ? {} : { limits: { memory: `${limit}Mi` } }),
})

/** What a container asks for, in MiB; limit undefined: none. */
interface Ask {
  readonly request: number
  readonly limit: number | undefined
}
interface PodCase {
  readonly qosClass: QosClass
  readonly request: number
  /** Those that run at once: an init container, or the sidecar and the app. */
  readonly containers: Readonly<Record<string, Ask>>
}

const pods: Record<string, PodCase> = {
  guaranteed: { qosClass: 'Guaranteed', request: 48, containers: { app: { request: 48, limit: 48 } } },
  burstable: {
    qosClass: 'Burstable',
    request: 42,
    containers: { sidecar: { request: 10, limit: 50 }, app: { request: 32, limit: 96 } },
  },
  // Never leaves its init container: the larger of init and app counts.
  starting: { qosClass: 'Burstable', request: 24, containers: { prepare: { request: 24, limit: 40 } } },
  besteffort: { qosClass: 'BestEffort', request: 0, containers: { app: { request: 0, limit: undefined } } },
}

const specs: Record<string, () => object> = {
  guaranteed: () => ({ containers: [container('app', { limits: { memory: '48Mi', cpu: '100m' } })] }),
  burstable: () => {
    const { app, sidecar } = pods['burstable']?.containers ?? {}
    return {
      initContainers: [
        container('sidecar', amounts(sidecar?.request ?? 0, sidecar?.limit), { restartPolicy: 'Always' }),
      ],
      containers: [container('app', amounts(app?.request ?? 0, app?.limit))],
    }
  },
  starting: () => ({
    initContainers: [container('prepare', amounts(24, 40))],
    containers: [container('app', amounts(8, 16))],
  }),
  besteffort: () => ({ containers: [container('app', {})] }),
}

let made: LabKubelet | undefined
/** Made on first use: outside the machine this file is only read for its names. */
const kubelet = (): LabKubelet => {
  made ??= new LabKubelet()
  return made
}
const put = (name: string): void =>
  kubelet().putPod(name, { hostNetwork: true, terminationGracePeriodSeconds: 5, ...specs[name]?.() })

const path = (...name: readonly string[]): string => formatCgroupPath(name, driver())
const kubepods = path('kubepods')
const burstable = path('kubepods', 'burstable')

interface Found {
  readonly pod: string
  readonly containers: ReadonlyMap<string, string>
}

async function find(name: string, { qosClass }: PodCase): Promise<Found> {
  const { items } = await client().runtime.listPodSandbox({})
  const sandbox = items.find(
    (s) => s.state === PodSandboxState.SANDBOX_READY && s.labels['io.kubernetes.pod.name'] === `${name}-lab`,
  )
  assert.ok(sandbox, `no sandbox of ${name}`)
  const uid = sandbox.labels['io.kubernetes.pod.uid'] ?? ''
  const pod = path(...podCgroupName(uid, qosClass))
  const state = { state: ContainerState.CONTAINER_RUNNING }
  const { containers } = await client().runtime.listContainers({
    filter: { podSandboxId: sandbox.id, state },
  })
  return {
    pod,
    containers: new Map(
      containers.map((c) => [
        c.labels['io.kubernetes.container.name'] ?? '',
        `${pod}/${findContainerCgroup(cgroups.children(pod) ?? [], c.id) ?? 'missing'}`,
      ]),
    ),
  }
}

const MiB = 1024 * 1024
const protection = (policy: Policy, qosClass: QosClass, request: number): string => {
  if (policy === 'HardReservation' || (policy === 'TieredReservation' && qosClass === 'Guaranteed'))
    return `${mib(request)} 0`
  return policy === 'TieredReservation' ? `0 ${mib(request)}` : '0 0'
}
/** KEP-2570: request + factor x (limit - request), in whole pages; without a limit checked apart. */
function throttle({ policy, factor }: Settings, qosClass: QosClass, { request, limit }: Ask): string {
  if (policy === 'gate off' || factor === null || qosClass === 'Guaranteed') return 'max'
  if (limit === undefined) return 'by allocatable'
  const high = request * MiB + (limit - request) * MiB * factor
  return String(Math.floor(high / 4096) * 4096)
}

/** By what a person calls it: `min low high`. */
async function expected(s: Settings): Promise<Record<string, string>> {
  const sum = (wanted: QosClass): number =>
    Object.values(pods).reduce((all, p) => all + (p.qosClass === wanted ? p.request : 0), 0)
  const [g, b] = [sum('Guaranteed'), sum('Burstable')]
  const protects = s.policy === 'HardReservation' || s.policy === 'TieredReservation'
  const values: Record<string, string> = {
    kubepods: `${protects ? mib(g + b) : '0'} ${s.policy === 'TieredReservation' ? mib(b) : '0'} max`,
    burstable: `${protection(s.policy, 'Burstable', b)} max`,
    besteffort: '0 0 max',
  }
  for (const [name, pod] of Object.entries(pods)) {
    values[name] = `${protection(s.policy, pod.qosClass, pod.request)} max`
    for (const [c, ask] of Object.entries(pod.containers))
      values[`${name}/${c}`] =
        `${protection(s.policy, pod.qosClass, ask.request)} ${throttle(s, pod.qosClass, ask)}`
  }
  return values
}

const ours = ['memory.min', 'memory.low', 'memory.high'] as const
async function actual(): Promise<Record<string, string>> {
  const at = (where: string): string => ours.map((file) => text(where, file) ?? 'missing').join(' ')
  const values: Record<string, string> = {
    kubepods: at(kubepods),
    burstable: at(burstable),
    besteffort: at(path('kubepods', 'besteffort')),
  }
  for (const [name, pod] of Object.entries(pods)) {
    const found = await find(name, pod)
    values[name] = at(found.pod)
    for (const [c, ask] of Object.entries(pod.containers)) {
      const [min, low, high = ''] = at(found.containers.get(c) ?? '/missing').split(' ')
      // 0.9 of what the node may give to pods: more than any limit here.
      const open = ask.limit === undefined && high !== 'max' && Number(high) > 300 * MiB
      values[`${name}/${c}`] = [min, low, open ? 'by allocatable' : high].join(' ')
    }
  }
  return values
}

async function settles(s: Settings): Promise<number> {
  const wanted = await expected(s)
  let now: unknown
  // Well below the period of passes: changes are seen at once.
  for (const end = Date.now() + 40_000; Date.now() < end; await sleep(300)) {
    now = await actual().catch((e: unknown) => String(e))
    try {
      assert.deepEqual(now, wanted)
      return Object.keys(wanted).length * ours.length
    } catch {
      // Not yet.
    }
  }
  assert.deepEqual(now, wanted, kubelet().output().slice(-3000))
  return 0
}

const keelson = 'staticPodResize: InPlace'
async function restarted(s: Settings): Promise<number> {
  await kubelet().restart({ driver: driver(), config: configOf(s), keelson })
  return settles(s)
}

const limitsOf = async (name: string, c: string): Promise<string | undefined> => {
  const pod = pods[name]
  assert.ok(pod)
  return text((await find(name, pod)).containers.get(c) ?? '', 'memory.max')
}

export const checks: readonly Check[] = [
  {
    name: 'TieredReservation: Guaranteed, Burstable and BestEffort, init, sidecar and app containers',
    timeoutMs: 240_000,
    async run() {
      for (const name of Object.keys(specs)) put(name)
      await kubelet().start({ driver: driver(), config: configOf(normal), keelson })
      return { files: await settles(normal) }
    },
  },
  ...(['HardReservation', 'None', 'gate off', 'HardReservation', 'TieredReservation'] as const).map(
    (policy, i): Check => ({
      name: `${i + 1}: the kubelet comes back with ${policy}: running containers follow, no residue`,
      timeoutMs: 150_000,
      run: async () => ({ files: await restarted({ ...normal, policy }) }),
    }),
  ),
  {
    name: 'factor 0.9 to unset, to 1.0, to 0.9',
    timeoutMs: 300_000,
    async run() {
      for (const factor of [null, 1, 0.9]) await restarted({ ...normal, factor })
    },
  },
  {
    name: 'request-only resize in place: container, pod, burstable and kubepods follow; the limit stays',
    timeoutMs: 120_000,
    async run() {
      const before = await find('burstable', pods['burstable'] ?? assert.fail())
      pods['burstable'] = {
        qosClass: 'Burstable',
        request: 74,
        containers: { sidecar: { request: 10, limit: 50 }, app: { request: 64, limit: 96 } },
      }
      put('burstable')
      await settles(normal)
      assert.equal(await limitsOf('burstable', 'app'), mib(96))
      assert.deepEqual(await find('burstable', pods['burstable']), before, 'containers were replaced')
    },
  },
  {
    name: 'limit removed in place: memory.max goes, memory.high follows what the node may give',
    timeoutMs: 120_000,
    async run() {
      pods['burstable'] = {
        qosClass: 'Burstable',
        request: 42,
        containers: { sidecar: { request: 10, limit: 50 }, app: { request: 32, limit: undefined } },
      }
      put('burstable')
      await settles(normal)
      for (const end = Date.now() + 20_000; (await limitsOf('burstable', 'app')) !== 'max'; await sleep(200))
        assert.ok(Date.now() < end, `memory.max is ${await limitsOf('burstable', 'app')}`)
    },
  },
  {
    name: 'metrics: the three of the KEP per container and the two gauges of upstream',
    async run() {
      const of = (c: string) => `{namespace="lab",pod="burstable-lab",container="${c}"}`
      const wanted = [
        `kubelet_memory_qos_memory_min_bytes{namespace="lab",pod="guaranteed-lab",container="app"} ${mib(48)}`,
        `kubelet_memory_qos_memory_high_bytes${of('sidecar')} 48234496`,
        `kubelet_memory_qos_throttle_events_total${of('app')} 0`,
        `kubelet_memory_qos_node_memory_min_bytes ${mib(48)}`,
        `kubelet_memory_qos_node_memory_low_bytes ${mib(66)}`,
      ]
      // As of the newest pass, which follows a change soon.
      for (const end = Date.now() + 20_000; ; await sleep(500)) {
        const lines = (await kubelet().page('/metrics')).split('\n')
        const missing = wanted.filter((line) => !lines.includes(line))
        if (missing.length === 0) return
        const shown = lines.filter((line) => line.includes('memory_qos')).join('\n')
        assert.ok(Date.now() < end, `${missing.join('\n')}\nnot in\n${shown}`)
      }
    },
  },
  {
    name: 'explain --live: the kernel keeps less where an ancestor has less, and it is named',
    timeoutMs: 120_000,
    async run() {
      const live = async (): Promise<string> => {
        const asked = startKeelson(['explain', '--live', 'burstable-lab', ...kubelet().reach])
        await asked.ended
        return asked.output()
      }
      const before = await live()
      assert.match(before, /container app of lab\/burstable-lab/)
      assert.doesNotMatch(before, /memory\.low .*capped by/)
      cgroups.write(kubepods, 'memory.low', '4096')
      const after = await live()
      assert.match(after, new RegExp(`memory\\.low .*capped by ${kubepods}\\b`))
      return { after: after.split('\n').filter((line) => line.includes('capped')) }
    },
  },
  {
    name: 'kube-reserved: protected while enforced, whatever the policy; back as it was when enforcement ends',
    timeoutMs: 300_000,
    async run() {
      const reserved = path('kubereserved')
      await cgroups.ensure(reserved)
      await cgroups.apply(reserved, { 'memory.min': mib(6) })
      const name = driver() === 'systemd' ? 'kubereserved.slice' : '/kubereserved'
      const more = `kubeReserved: {memory: 40Mi}\nkubeReservedCgroup: ${name}\nenforceNodeAllocatable: [pods, kube-reserved]`
      // In the same pass as the rest, but not before it.
      const becomes = async (min: string): Promise<void> => {
        for (const end = Date.now() + 20_000; text(reserved, 'memory.min') !== min; await sleep(200))
          assert.ok(Date.now() < end, `memory.min is ${text(reserved, 'memory.min')} and not ${min}`)
      }
      for (const [policy, min] of [
        ['TieredReservation', mib(40)],
        ['None', mib(40)],
        ['gate off', '0'],
        ['TieredReservation', mib(40)],
      ] as const) {
        await restarted({ ...normal, policy, more })
        await becomes(min)
      }
      await restarted(normal)
      await becomes(mib(6))
    },
  },
  {
    name: 'the last pods of a class leave: burstable and kubepods shrink, then everything is at rest',
    timeoutMs: 180_000,
    async run() {
      for (const name of ['burstable', 'starting']) {
        kubelet().removePod(name)
        delete pods[name]
      }
      await settles(normal)
      assert.equal(text(burstable, 'memory.low'), '0')
      assert.equal(text(kubepods, 'memory.min'), mib(48))
      for (const name of ['guaranteed', 'besteffort']) {
        kubelet().removePod(name)
        delete pods[name]
      }
      await settles(normal)
      await kubelet().stop()
    },
  },
]
