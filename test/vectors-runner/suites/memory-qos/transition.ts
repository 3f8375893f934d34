// Kind `transition`: the engine of kubelet and companion makes its passes over a node in memory whose files were left as the
// vector says. The same cases run on a real kernel in test/lab/inside/memory-qos-vectors.ts.

import { effectiveMemoryQos, kepMemoryQosRules } from '../../../../src/core/memory-qos/config.js'
import type { MemoryQosSettings } from '../../../../src/core/memory-qos/settings.js'
import { desiredText, isMemoryFile, memoryFiles } from '../../../../src/core/memory-qos/unified.js'
import { planPod } from '../../../../src/core/plan/pod-plan.js'
import { parsePod } from '../../../../src/core/pod/parse-pod.js'
import type { PodResources } from '../../../../src/core/pod/pod.js'
import { bytes } from '../../../../src/core/units/bytes.js'
import { type MemoryFixture, startFixture } from '../../../memory-qos/fixture.js'
import { type Fields, fieldsAt, isFields } from '../../types.js'
import { bytesOf, setting } from './settings.js'

const levels = ['kubepods', 'burstable', 'pod', 'container'] as const
type Level = (typeof levels)[number]

export async function runTransition(input: Fields): Promise<Fields> {
  const before = fieldsAt(input, 'before')
  const { resize } = input
  const fixture = await startNode(input)
  const pod = podOf(isFields(resize) ? fieldsAt(resize, 'from') : fieldsAt(input, 'container'))
  await fixture.run(pod)
  const paths = pathsOf(fixture, pod)
  for (const level of levels)
    for (const [file, text] of Object.entries(textsOf(before[level])))
      if (isMemoryFile(file)) write(fixture, paths[level], file, text)
  if (isFields(resize)) await carryOutResize(fixture, paths.container, podOf(fieldsAt(resize, 'to')))
  else await pass(fixture)
  const after = levels.map((level) => {
    const now = memoryFiles.map((file) => [file, fixture.text(paths[level], file)])
    return [level, { ...textsOf(before[level]), ...Object.fromEntries(now) }]
  })
  return { after: Object.fromEntries(after) }
}

/** Limits change by a resize alone; the pod's own one is the engine's to write. */
async function startNode(input: Fields): Promise<MemoryFixture> {
  const pageSize = BigInt(Number(input['pageSize'] ?? 4096))
  const fixture = await startFixture(
    settingsWithDefaults(input),
    { ownsOtherFiles: (t) => t.level === 'pod' },
    { pageSize },
  )
  const allocatableMemory = bytesOf(setting(input, 'allocatableMemory')) ?? bytes(0n)
  const memoryCapacity = bytesOf(setting(input, 'memoryCapacity')) ?? fixture.input.node.memoryCapacity
  fixture.input = {
    ...fixture.input,
    node: { ...fixture.input.node, pageSize, allocatableMemory, memoryCapacity },
  }
  return fixture
}

function pathsOf(fixture: MemoryFixture, pod: PodResources): Record<Level, string> {
  const container = fixture.containerPath(pod, 'container')
  return {
    kubepods: '/kubepods',
    burstable: '/kubepods/burstable',
    pod: container.slice(0, container.lastIndexOf('/')),
    container,
  }
}

/** The agent has seen the pod as it was; then the runtime sets the container's limit, and the agent follows. */
async function carryOutResize(fixture: MemoryFixture, container: string, to: PodResources): Promise<void> {
  await pass(fixture)
  fixture.input = { ...fixture.input, pods: [to] }
  const files = planPod({ ...fixture.input.node, memoryQos: fixture.input.memoryQos, pod: to }).containers[0]
    ?.files
  const limit = files === undefined ? undefined : desiredText('memory.max', files['memory.max'])
  if (limit !== undefined) write(fixture, container, 'memory.max', limit)
  await pass(fixture)
}

async function pass(fixture: MemoryFixture): Promise<void> {
  const report = await fixture.pass()
  if (report.failures > 0) throw new Error(`the pass failed: ${JSON.stringify(report.findings)}`)
}

function write(fixture: MemoryFixture, path: string, file: string, text: string): void {
  const errno = fixture.cgroups.kernel.write(path, file, text)
  if (errno !== undefined) throw new Error(`${path}/${file} does not take ${JSON.stringify(text)}: ${errno}`)
}

const textsOf = (listed: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isFields(listed) ? listed : {}).map(([file, text]) => [file, String(text)]),
  )

const podOf = (resources: Fields): PodResources =>
  parsePod({
    metadata: { name: 'pod', uid: '1' },
    spec: { containers: [{ name: 'container', resources }] },
    // The kind says so, and a resize cannot change it.
    status: { qosClass: 'Burstable' },
  })

export function settingsWithDefaults(input: Fields): MemoryQosSettings {
  const config = isFields(input['config']) ? input['config'] : {}
  const gate = config['gate'] === true
  const { factor, policy } = effectiveMemoryQos(config, kepMemoryQosRules(gate))
  const cgroupVersion = setting(input, 'cgroupVersion') === 1 ? 1 : 2
  return { enabled: gate, cgroupVersion, generation: '1.27', factor, policy }
}
