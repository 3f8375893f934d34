// Values of others in files that only a full kernel has: huge page limits, set by somebody else on every level, stay over
// passes with and without changes of ours. Pressure of a container is in `explain --live` where the kernel has it.
import assert from 'node:assert/strict'
import { formatCgroupPath } from '../../../src/core/cgroup/name.js'
import { FakeLog } from '../../../src/fakes/log.js'
import { createMemoryQos } from '../../../src/memory-qos/memory-qos.js'
import { createProcessMetrics } from '../../../src/serve/process-metrics.js'
import type { Check } from '../../support/check.js'
import {
  cgroups,
  client,
  clock,
  containerPath,
  driver,
  expectPlan,
  hard,
  type LabPod,
  mib,
  newEngine,
  nodeInput,
  podOf,
  signal,
  startPod,
  text,
  tiered,
} from './memory-qos-node.js'
import { hugetlbChecks } from './pod-hugetlb.js'

const pod = podOf('web', {
  containers: [
    { name: 'app', resources: { requests: { memory: '32Mi' }, limits: { memory: '96Mi', cpu: '200m' } } },
  ],
})
let running: LabPod | undefined
const kubepods = formatCgroupPath(['kubepods'], driver())
const burstable = formatCgroupPath(['kubepods', 'burstable'], driver())

export const checks: readonly Check[] = [
  {
    name: 'a pod runs',
    timeoutMs: 300_000,
    async run() {
      running = await startPod(pod)
    },
  },
  {
    name: 'hugetlb, cpu, limits and pids of others are as they were after ten passes with changes of ours',
    timeoutMs: 400_000,
    async run() {
      assert.ok(running)
      const app = await containerPath(running, 'app')
      const foreign = [
        [kubepods, 'hugetlb.2MB.max', mib(64)],
        [burstable, 'hugetlb.2MB.max', mib(32)],
        [running.path, 'hugetlb.2MB.max', mib(16)],
        [app, 'hugetlb.2MB.max', mib(6)],
        [app, 'hugetlb.2MB.rsvd.max', mib(4)],
        [kubepods, 'cpu.weight', '77'],
        [kubepods, 'pids.max', '5000'],
        [burstable, 'cpu.max', '90000 100000'],
        [running.path, 'memory.max', mib(400)],
        [app, 'cpu.weight', '55'],
        [app, 'cpu.max', '30000 100000'],
        [app, 'memory.max', mib(120)],
      ] as const
      const missing = foreign.filter(([at, file]) => text(at, file) === undefined)
      assert.deepEqual(missing, [], 'this kernel lacks files')
      for (const [at, file, value] of foreign) cgroups.write(at, file, value)
      const engine = newEngine()
      let changes = 0
      for (let i = 0; i < 10; i++) {
        const input = { ...nodeInput(i % 3 === 0 ? hard : tiered), pods: [pod] }
        const report = await engine.pass(input, { signal })
        assert.equal(report.failures, 0, JSON.stringify(report.findings))
        changes += report.calls
        await expectPlan(input)
        for (const [at, file, value] of foreign)
          assert.equal(text(at, file), value, `pass ${i}: ${at} ${file}`)
      }
      assert.ok(changes >= 4, `the runtime was asked ${changes} times only`)
      return { files: foreign.length, runtimeUpdates: changes }
    },
  },
  {
    name: 'explain --live has the pressure of the container',
    timeoutMs: 100_000,
    async run() {
      const memoryQos = createMemoryQos({
        cgroups,
        runtime: client().runtime,
        clock,
        timeoutMs: 60_000,
        ownsOtherFiles: () => false,
        log: new FakeLog(),
        metrics: await createProcessMetrics({ processDefaults: false }),
        event: () => undefined,
        node: () => nodeInput(tiered),
        pods: () => [pod],
        signal,
      })
      await memoryQos.passNow()
      const row = memoryQos.live('web').rows.find((r) => r.level === 'container')
      assert.equal(typeof row?.pressureAvg10, 'number')
      await running?.remove()
    },
  },
  ...hugetlbChecks,
]
