// Kind `transition`: the planner's writes carried out on a tree in memory that floors to pages like the kernel.
import { bytes } from '../../../../src/core/bytes.js'
import { defaultCpuPeriodUs } from '../../../../src/core/cpu.js'
import { effectiveMemoryQos, kepMemoryQosRules } from '../../../../src/core/memory-qos-config.js'
import type { MemoryQosSettings } from '../../../../src/core/memory-qos-settings.js'
import {
  type CgroupMemory,
  type MemoryFiles,
  planMemoryWrites,
  readBack,
} from '../../../../src/core/memory-transition.js'
import { planNode } from '../../../../src/core/node-plan.js'
import type { Outcome } from '../../../../src/core/outcome.js'
import { parsePod } from '../../../../src/core/parse-pod.js'
import type { Pod } from '../../../../src/core/pod.js'
import { planPod } from '../../../../src/core/pod-plan.js'
import { desiredText, isMemoryFile, type MemoryFile, restingValues } from '../../../../src/core/unified.js'
import { type Fields, fieldsAt, isFields } from '../../types.js'
import { bytesOf, setting } from './settings.js'

const levels = ['kubepods', 'burstable', 'pod', 'container'] as const
type Level = (typeof levels)[number]

export function runTransition(input: Fields): Fields {
  const pageSize = BigInt(Number(input['pageSize'] ?? 4096))
  const before = fieldsAt(input, 'before')
  const desired = desiredFiles(input, pageSize)
  const tree = levels.map(
    (id, depth): CgroupMemory => ({ id, depth, observed: contents(before[id]), desired: desired[id] }),
  )
  const after = new Map(
    tree.map(({ id, observed }): [string, Record<string, string>] => [
      id,
      { ...textsOf(before[id]), ...observed },
    ]),
  )
  for (const { id, file, value } of planMemoryWrites(tree, pageSize)) {
    const files = after.get(id)
    if (files === undefined) throw new Error(`the plan writes to ${id}`)
    files[file] = String(readBack(value, pageSize))
  }
  return { after: Object.fromEntries(after) }
}

/** Files that the vector does not list are as on a fresh cgroup; those the plan knows nothing of are not its input. */
function contents(listed: unknown): MemoryFiles {
  const files: Partial<Record<MemoryFile, string>> = { ...restingValues }
  for (const [file, text] of Object.entries(textsOf(listed))) if (isMemoryFile(file)) files[file] = text
  return files
}

const textsOf = (listed: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isFields(listed) ? listed : {}).map(([file, text]) => [file, String(text)]),
  )

function desiredFiles(input: Fields, pageSize: bigint): Record<Level, MemoryFiles> {
  const resize = input['resize']
  const pod = podOf(isFields(resize) ? fieldsAt(resize, 'to') : fieldsAt(input, 'container'))
  const memoryQos = settingsWithDefaults(input)
  const allocatableMemory = bytesOf(setting(input, 'allocatableMemory')) ?? bytes(0n)
  const memoryCapacity = bytesOf(setting(input, 'memoryCapacity'))
  const plan = planPod({
    pod,
    memoryQos,
    allocatableMemory,
    memoryCapacity,
    pageSize,
    cpuQuota: { enforced: true, periodUs: defaultCpuPeriodUs },
    swap: { behavior: 'NoSwap', capacity: bytes(0n) },
    singleProcessOOMKill: false,
    runtimeWeightCurve: 'log-quadratic',
  })
  const node = planNode({
    pods: [pod],
    memoryQos,
    cgroupsPerQOS: true,
    enforcesPods: true,
    memoryCapacity: memoryCapacity ?? bytes(0n),
    allocatableMemory,
  })
  // A restart reconciles protection and throttle; limits change by a resize alone.
  const own: readonly MemoryFile[] = ['memory.min', 'memory.low', 'memory.high']
  const files: readonly MemoryFile[] = isFields(resize) ? [...own, 'memory.max'] : own
  return {
    kubepods: texts(node.kubepods, ['memory.min', 'memory.low']),
    burstable: texts(node.burstable, ['memory.min', 'memory.low']),
    pod: texts(plan.files, files),
    container: texts(plan.containers[0]?.files ?? {}, files),
  }
}

function texts(
  from: Partial<Record<MemoryFile, Outcome<bigint>>>,
  files: readonly MemoryFile[],
): MemoryFiles {
  const result: Partial<Record<MemoryFile, string>> = {}
  for (const file of files) {
    const outcome = from[file]
    const text = outcome === undefined ? undefined : desiredText(file, outcome)
    if (text !== undefined) result[file] = text
  }
  return result
}

const podOf = (resources: Fields): Pod =>
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
