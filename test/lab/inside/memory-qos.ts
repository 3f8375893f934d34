// Memory QoS on a real kernel with real containerd, under the driver of the machine: values of every class and kind of container,
// transitions with running containers, values of others, and the transition vectors on real files.
import assert from 'node:assert/strict'
import { formatCgroupPath } from '../../../src/core/cgroup/name.js'
import type { MemoryQosSettings } from '../../../src/core/memory-qos/settings.js'
import type { TargetsInput } from '../../../src/core/memory-qos/targets.js'
import { parseResourceList } from '../../../src/core/pod/parse-pod.js'
import type { PodResources } from '../../../src/core/pod/pod.js'
import type { MemoryQosEngine } from '../../../src/memory-qos/engine.js'
import type { Check } from '../../support/check.js'
import {
  cgroups,
  containerPath,
  driver,
  expectPlan,
  gateOff,
  hard,
  type LabPod,
  mib,
  newEngine,
  nodeInput,
  none,
  podOf,
  signal,
  startPod,
  text,
  tiered,
} from './memory-qos-node.js'
import { vectorChecks } from './memory-qos-vectors.js'

const amounts = (request: string, limit: string | null) => ({
  requests: { memory: request },
  ...(limit === null ? {} : { limits: { memory: limit } }),
})

const guaranteedPod = podOf('guaranteed', {
  containers: [{ name: 'app', resources: { limits: { memory: '48Mi', cpu: '100m' } } }],
})
/** Limit null: none. */
const burstable = (request = '32Mi', limit: string | null = '96Mi'): PodResources =>
  podOf('burstable', {
    initContainers: [
      { name: 'first', resources: amounts('16Mi', '64Mi') },
      { name: 'sidecar', restartPolicy: 'Always', resources: amounts('10Mi', '50Mi') },
    ],
    containers: [{ name: 'app', resources: amounts(request, limit) }],
  })
const bestEffort = podOf('besteffort', { containers: [{ name: 'app' }] })

let kept: MemoryQosEngine | undefined
const engine = (): MemoryQosEngine => {
  kept ??= newEngine()
  return kept
}
const running = new Map<string, LabPod>()
let input: TargetsInput = nodeInput(tiered)

const path = (...name: readonly string[]): string => formatCgroupPath(name, driver())
const kubepods = path('kubepods')
const burstableCgroup = path('kubepods', 'burstable')

async function become(change: Partial<TargetsInput>): Promise<number> {
  input = { ...input, ...change }
  const report = await engine().pass(input, { signal })
  assert.deepEqual(
    report.findings.filter((f) => f.id !== 'drift').map((f) => `${f.id} ${f.subject} ${f.message}`),
    [],
  )
  return expectPlan(input)
}

const withSettings = (memoryQos: MemoryQosSettings): Promise<number> => become({ memoryQos })

async function pathOf(pod: string, container: string): Promise<string> {
  const found = running.get(pod)
  assert.ok(found)
  return containerPath(found, container)
}

export const checks: readonly Check[] = [
  {
    name: 'pods of every class and kind of container run',
    timeoutMs: 120_000,
    async run() {
      for (const at of [kubepods, burstableCgroup, path('kubepods', 'besteffort')]) await cgroups.ensure(at)
      for (const pod of [guaranteedPod, burstable(), bestEffort]) running.set(pod.name, await startPod(pod))
      input = { ...input, pods: [guaranteedPod, burstable(), bestEffort] }
    },
  },
  ...(
    [
      ['TieredReservation', tiered],
      ['HardReservation', hard],
      ['None', none],
    ] as const
  ).map(
    ([policy, settings]): Check => ({
      name: `${policy}: container, pod, QoS and node files hold the plan`,
      async run() {
        const compared = await withSettings(settings)
        assert.ok(compared >= 28, `${compared} files`)
        const app = await pathOf('burstable', 'app')
        // 32Mi + 0.9 x 64Mi in whole pages.
        assert.equal(text(app, 'memory.high'), '93949952')
        assert.equal(text(await pathOf('guaranteed', 'app'), 'memory.high'), 'max')
        // 32 + 10 of the sidecar; 16 of the init container alone is less. 48 of the Guaranteed pod on top.
        const both = policy === 'None' ? '0' : mib(90)
        assert.equal(text(kubepods, 'memory.min'), both)
        assert.equal(text(kubepods, 'memory.low'), policy === 'TieredReservation' ? mib(42) : '0')
        assert.equal(text(burstableCgroup, 'memory.min'), policy === 'HardReservation' ? mib(42) : '0')
        return { files: compared }
      },
    }),
  ),
  {
    name: 'gate on, off, on: no residue on any level',
    async run() {
      await withSettings(tiered)
      await withSettings(gateOff)
      for (const at of [kubepods, burstableCgroup, await pathOf('burstable', 'app')])
        assert.deepEqual(
          ['memory.min', 'memory.low', 'memory.high'].map((file) => text(at, file)),
          ['0', '0', 'max'],
        )
      await withSettings(tiered)
      assert.equal(text(burstableCgroup, 'memory.low'), mib(42))
    },
  },
  {
    name: 'HardReservation to Tiered to None and back',
    async run() {
      for (const settings of [hard, tiered, none, hard, tiered]) await withSettings(settings)
    },
  },
  {
    name: 'factor 0.9 to unset, to 1.0',
    async run() {
      const app = await pathOf('burstable', 'app')
      await withSettings({ ...tiered, factor: undefined })
      assert.equal(text(app, 'memory.high'), 'max')
      await withSettings({ ...tiered, factor: 1 })
      assert.equal(text(app, 'memory.high'), mib(96))
      await withSettings(tiered)
      assert.equal(text(app, 'memory.high'), '93949952')
    },
  },
  {
    name: 'request-only change: container, pod, burstable and kubepods follow',
    async run() {
      await become({ pods: [guaranteedPod, burstable('64Mi'), bestEffort] })
      assert.equal(text(await pathOf('burstable', 'app'), 'memory.low'), mib(64))
      assert.equal(text(burstableCgroup, 'memory.low'), mib(74))
      assert.equal(text(kubepods, 'memory.min'), mib(122))
    },
  },
  {
    name: 'limit removed: memory.high follows allocatable memory',
    async run() {
      await become({ pods: [guaranteedPod, burstable('32Mi', null), bestEffort] })
      const high = BigInt(text(await pathOf('burstable', 'app'), 'memory.high') ?? '0')
      assert.ok(high > 300n * 2n ** 20n, String(high))
      await become({ pods: [guaranteedPod, burstable(), bestEffort] })
    },
  },
  {
    name: 'kube-reserved: memory.min while enforced, taken back when enforcement ends',
    async run() {
      const reserved = path('kubereserved')
      await cgroups.ensure(reserved)
      const enforced: Partial<TargetsInput> = {
        enforceNodeAllocatable: ['pods', 'kube-reserved'],
        reserved: {
          amounts: {
            'kube-reserved': parseResourceList({ memory: '40Mi' }, 'kubeReserved'),
            'system-reserved': new Map(),
          },
          cgroups: { 'kube-reserved': reserved, 'system-reserved': '' },
        },
      }
      await become(enforced)
      assert.equal(text(reserved, 'memory.min'), mib(40))
      await become({ memoryQos: gateOff })
      assert.equal(text(reserved, 'memory.min'), '0')
      await become({ memoryQos: tiered })
      assert.equal(text(reserved, 'memory.min'), mib(40))
      await become({ enforceNodeAllocatable: ['pods'] })
    },
  },
  {
    name: 'values of others are as they were after ten passes, with and without changes of ours',
    timeoutMs: 120_000,
    async run() {
      const app = await pathOf('burstable', 'app')
      const pod = running.get('burstable')?.path ?? ''
      const foreign: readonly (readonly [string, string, string])[] = [
        [kubepods, 'cpu.weight', '77'],
        [kubepods, 'memory.max', mib(700)],
        [kubepods, 'pids.max', '5000'],
        [burstableCgroup, 'cpu.max', '90000 100000'],
        [pod, 'memory.max', mib(400)],
        [pod, 'pids.max', '333'],
        [app, 'cpu.weight', '55'],
        [app, 'memory.max', mib(120)],
      ]
      for (const [at, file, value] of foreign) cgroups.write(at, file, value)
      for (let i = 0; i < 10; i++) await withSettings(i < 4 ? tiered : i % 2 === 0 ? hard : tiered)
      for (const [at, file, value] of foreign) assert.equal(text(at, file), value, `${at} ${file}`)
    },
  },
  {
    name: 'a pass without a change writes nothing and calls nothing',
    async run() {
      const report = await engine().pass(input, { signal })
      assert.deepEqual([report.writes, report.calls, report.drifts], [0, 0, 0])
    },
  },
  {
    name: 'what somebody else resets is put back three times in ten minutes, then reported',
    async run() {
      for (let i = 0; i < 3; i++) {
        cgroups.write(kubepods, 'memory.low', '0')
        const report = await engine().pass(input, { signal })
        assert.deepEqual([report.writes, report.drifts], [1, 0])
        await expectPlan(input)
      }
      cgroups.write(kubepods, 'memory.low', '0')
      const report = await engine().pass(input, { signal })
      assert.deepEqual([report.writes, report.calls, report.drifts], [0, 0, 1])
      assert.deepEqual(
        report.findings.map((f) => [f.id, f.subject]),
        [['drift', kubepods]],
      )
      assert.equal(text(kubepods, 'memory.low'), '0')
      // A value of ours that changes is no drift, and is written again.
      await become({ memoryQos: none })
      await become({ memoryQos: tiered })
    },
  },
  {
    name: 'the last pod of a class leaves: burstable and kubepods shrink',
    async run() {
      await running.get('burstable')?.remove()
      await become({ pods: [guaranteedPod, bestEffort] })
      assert.equal(text(burstableCgroup, 'memory.low'), '0')
      assert.equal(text(kubepods, 'memory.low'), '0')
      assert.equal(text(kubepods, 'memory.min'), mib(48))
      for (const name of ['guaranteed', 'besteffort']) await running.get(name)?.remove()
      await become({ pods: [] })
      assert.equal(text(kubepods, 'memory.min'), '0')
    },
  },
  ...vectorChecks,
]
