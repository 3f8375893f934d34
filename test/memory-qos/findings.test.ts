// What a pass says about the node: each danger that Memory QoS can meet is found and explained, and nothing else is.
import { describe, expect, test } from 'vitest'
import { type Finding, type NodeFindingsInput, nodeFindings } from '../../src/core/memory-qos/findings.js'
import { checkKernel } from '../../src/core/release/kernel-check.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createMemoryQos } from '../../src/memory-qos/memory-qos.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import {
  gateOff,
  hard,
  type MemoryFixture,
  makePod,
  mib,
  startFixture,
  tiered,
  withKubeReserved,
} from './fixture.js'

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' } })
const MiB = 2n ** 20n

const calm: NodeFindingsInput = {
  memoryQos: hard,
  controllers: ['cpu', 'memory', 'pids'],
  kernelMessage: undefined,
  protectedBytes: 100n * MiB,
  memoryCapacity: 1000n * MiB,
}
const oldKernel = checkKernel({ osrelease: '5.4.0-1-amd64', gate: true, cgroupVersion: 2 })
const kernelMessage = oldKernel.kind === 'livelock-risk' ? oldKernel.message : 'none'

describe('the node', () => {
  for (const { name, more, ids } of [
    { name: 'nothing wrong', more: {}, ids: [] },
    { name: 'cgroup v1', more: { memoryQos: { ...hard, cgroupVersion: 1 as const } }, ids: ['cgroup-v1'] },
    {
      name: 'no memory controller',
      more: { controllers: ['cpu', 'pids'] },
      ids: ['memory-controller-missing'],
    },
    { name: 'kernel 5.4 with a factor', more: { kernelMessage }, ids: ['kernel-too-old'] },
    {
      name: 'kernel 5.4 without memory.high',
      more: { kernelMessage, memoryQos: { ...hard, factor: undefined } },
      ids: [],
    },
    { name: 'just below 90 %', more: { protectedBytes: 900n * MiB - 1n }, ids: [] },
    { name: '90 %', more: { protectedBytes: 900n * MiB }, ids: ['protection-near-capacity'] },
    { name: 'all of it', more: { protectedBytes: 1000n * MiB }, ids: ['protection-near-capacity'] },
    { name: 'more than all', more: { protectedBytes: 1000n * MiB + 1n }, ids: ['protection-over-capacity'] },
    {
      name: 'policy None protects no pods',
      more: { protectedBytes: 1200n * MiB, memoryQos: { ...hard, policy: 'None' as const } },
      ids: [],
    },
    { name: 'gate off', more: { controllers: [], kernelMessage, memoryQos: gateOff }, ids: [] },
  ])
    test(name, () => {
      const found = nodeFindings({ ...calm, ...more })
      expect(found.map((f) => f.id)).toEqual(ids)
      for (const f of found) expect([f.message.length > 20, f.remedy.length > 10]).toEqual([true, true])
    })
})

async function findingsOf(fixture: MemoryFixture, more: { readonly kernelMessage?: string } = {}) {
  const log = new FakeLog()
  const metrics = await createProcessMetrics({ processDefaults: false })
  const memoryQos = createMemoryQos({
    cgroups: fixture.cgroups,
    runtime: fixture.runtime,
    clock: fixture.clock,
    timeoutMs: 1000,
    ownsOtherFiles: () => false,
    log,
    metrics,
    event: () => undefined,
    node: () => fixture.input,
    pods: () => fixture.input.pods,
    signal: new AbortController().signal,
    ...more,
  })
  await memoryQos.passNow()
  await memoryQos.passNow()
  const page = (await metrics.text()).body
  return { findings: memoryQos.findings(), warnings: log.messages('warn'), page }
}

const idsOf = (findings: readonly Finding[]): readonly string[] => findings.map((f) => f.id)

describe('over a pass', () => {
  test('a danger is in the log once, in the gauge, and among the findings', async () => {
    const fixture = await startFixture(tiered)
    await fixture.run(web)
    const { findings, page, warnings } = await findingsOf(fixture, { kernelMessage })
    expect(idsOf(findings)).toEqual(['kernel-too-old'])
    expect(warnings.filter((line) => line.includes('5.9'))).toHaveLength(1)
    expect(page).toContain('keelson_memory_qos_findings{finding="kernel-too-old"} 1')
  })

  test('no memory controller: said, and nothing is written', async () => {
    const fixture = await startFixture(tiered)
    await fixture.run(web)
    const { read, controllers } = fixture.cgroups
    fixture.cgroups.read = (path, file) =>
      file.startsWith('memory.') ? undefined : read.call(fixture.cgroups, path, file)
    fixture.cgroups.controllers = (path) =>
      controllers.call(fixture.cgroups, path)?.filter((c) => c !== 'memory')
    fixture.cgroups.calls.length = 0
    expect(idsOf((await findingsOf(fixture)).findings)).toEqual(['memory-controller-missing'])
    expect(fixture.cgroups.calls).toEqual([])
    expect(fixture.updates).toEqual([])
  })

  test('cgroup v1: said, and nothing is written', async () => {
    const fixture = await startFixture(tiered)
    await fixture.run(web)
    fixture.input = { ...fixture.input, memoryQos: { ...tiered, cgroupVersion: 1 } }
    fixture.cgroups.calls.length = 0
    expect(idsOf((await findingsOf(fixture)).findings)).toEqual(['cgroup-v1'])
    expect(fixture.cgroups.calls).toEqual([])
    expect(fixture.updates).toEqual([])
  })

  test('an enforced reserved cgroup that does not exist', async () => {
    const fixture = await startFixture(tiered)
    fixture.input = withKubeReserved(fixture.input, '/kube/reserved', '200Mi')
    const { findings } = await findingsOf(fixture)
    expect(findings).toMatchObject([{ id: 'reserved-cgroup-missing', subject: '/kube/reserved' }])
    await fixture.cgroups.ensure('/kube/reserved')
    fixture.cgroups.kernel.write('/kube', 'memory.min', mib(200))
    expect(idsOf((await findingsOf(fixture)).findings)).toEqual([])
  })
})
