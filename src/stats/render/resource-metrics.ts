// /metrics/resource from samples, as metrics-server reads it: its parser gives up a whole pod, or the whole node, over
// one odd line.
import { inTurns } from '../../core/units/turns.js'
import type { Family } from '../catalogue/family.js'
import { type ContainerSample, type NodeSample, type PodSample, podsWrittenATurn } from '../sample.js'
import type { SwapUsage } from '../usage.js'
import { createExposition, formatTimestamp } from './exposition.js'
import { formatLabels } from './label-set.js'
import { podSwap } from './summary.js'
import type { TextPieces } from './text-bytes.js'

type Resource = Pick<Family, 'name' | 'type' | 'help' | 'decimals'>

const family = (
  type: Family['type'],
  decimals: Family['decimals'],
  name: string,
  stability: 'STABLE' | 'ALPHA',
  help: string,
): Resource => ({ name, type, decimals, help: `[${stability}] ${help}` })

const f = {
  nodeCpu: family(
    'counter',
    9,
    'node_cpu_usage_seconds_total',
    'STABLE',
    'CPU time used by the node, in seconds',
  ),
  nodeMemory: family(
    'gauge',
    0,
    'node_memory_working_set_bytes',
    'STABLE',
    'Working set of the node, in bytes',
  ),
  nodeSwap: family('gauge', 0, 'node_swap_usage_bytes', 'ALPHA', 'Swap in use on the node, in bytes'),
  cpu: family(
    'counter',
    9,
    'container_cpu_usage_seconds_total',
    'STABLE',
    'CPU time used by the container, in seconds',
  ),
  memory: family(
    'gauge',
    0,
    'container_memory_working_set_bytes',
    'STABLE',
    'Working set of the container, in bytes',
  ),
  swap: family('gauge', 0, 'container_swap_usage_bytes', 'ALPHA', 'Swap in use by the container, in bytes'),
  swapLimit: family(
    'gauge',
    0,
    'container_swap_limit_bytes',
    'ALPHA',
    'Swap that the container may use, in bytes',
  ),
  start: family(
    'gauge',
    9,
    'container_start_time_seconds',
    'STABLE',
    'Start of the container, in seconds since 1970',
  ),
  podCpu: family(
    'counter',
    9,
    'pod_cpu_usage_seconds_total',
    'STABLE',
    'CPU time used by the pod, in seconds',
  ),
  podMemory: family('gauge', 0, 'pod_memory_working_set_bytes', 'STABLE', 'Working set of the pod, in bytes'),
  podSwap: family('gauge', 0, 'pod_swap_usage_bytes', 'ALPHA', 'Swap in use by the pod, in bytes'),
  error: family(
    'gauge',
    0,
    'resource_scrape_error',
    'STABLE',
    '1 if there was an error while getting the metrics, else 0',
  ),
} as const

/** In the order in which the node, its containers and its pods come. */
type Add = (resource: Resource, block: string, value: bigint | undefined, timeNanos: bigint) => void

function addNode(add: Add, { usage: { cpu, memory, swap } }: NodeSample): void {
  if (cpu !== undefined) add(f.nodeCpu, '', cpu.usageCoreNanoSeconds, cpu.timeNanos)
  if (memory !== undefined) add(f.nodeMemory, '', memory.workingSetBytes, memory.timeNanos)
  if (swap !== undefined) add(f.nodeSwap, '', swap.usageBytes, swap.timeNanos)
}

/** A 0 drops the whole pod at the reader: a container that has not run yet is left out of both. */
const hasRun = ({ usage: { cpu, memory } }: ContainerSample): boolean =>
  (cpu?.usageCoreNanoSeconds ?? 0n) > 0n && (memory?.workingSetBytes ?? 0n) > 0n

const swapLimit = ({ availableBytes, usageBytes }: SwapUsage): bigint | undefined =>
  availableBytes === undefined || usageBytes === undefined ? undefined : availableBytes + usageBytes

function addContainer(add: Add, container: ContainerSample, block: string): void {
  const { cpu, memory, swap } = container.usage
  if (hasRun(container) && cpu !== undefined && memory !== undefined) {
    add(f.cpu, block, cpu.usageCoreNanoSeconds, cpu.timeNanos)
    add(f.memory, block, memory.workingSetBytes, memory.timeNanos)
  }
  if (swap !== undefined) {
    add(f.swap, block, swap.usageBytes, swap.timeNanos)
    add(f.swapLimit, block, swapLimit(swap), swap.timeNanos)
  }
  const { createdAtNanos } = container.info
  add(f.start, block, createdAtNanos > 0n ? createdAtNanos : undefined, 0n)
}

function addPod(add: Add, pod: PodSample): void {
  const { name, namespace } = pod.info.ref
  for (const container of pod.containers)
    addContainer(
      add,
      container,
      formatLabels([
        ['container', container.info.name],
        ['namespace', namespace],
        ['pod', name],
      ]),
    )
  const block = formatLabels([
    ['namespace', namespace],
    ['pod', name],
  ])
  const { cpu, memory } = pod.usage
  if (cpu !== undefined) add(f.podCpu, block, cpu.usageCoreNanoSeconds, cpu.timeNanos)
  if (memory !== undefined) add(f.podMemory, block, memory.workingSetBytes, memory.timeNanos)
  const swap = podSwap(pod)
  if (swap !== undefined) add(f.podSwap, block, swap.usageBytes, swap.timeNanos)
}

/** Two sandboxes may carry one name while a pod is replaced; a reader takes that for an error. The newer one counts. */
function onePerName(pods: readonly PodSample[]): PodSample[] {
  const byName = new Map<string, PodSample>()
  for (const pod of pods) {
    const key = `${pod.info.ref.namespace}/${pod.info.ref.name}`
    const other = byName.get(key)
    if (other === undefined || other.info.createdAtNanos < pod.info.createdAtNanos) byName.set(key, pod)
  }
  return [...byName.values()]
}

interface ResourceInput {
  /** Undefined: the kernel's own values could not be read. */
  readonly node: NodeSample | undefined
  readonly pods: readonly PodSample[]
  readonly failed: boolean
}

export async function writeResourceMetrics({ node, pods, failed }: ResourceInput): Promise<TextPieces> {
  const exposition = createExposition()
  const add: Add = (resource, block, value, timeNanos) => {
    if (value !== undefined) exposition.add(resource, block, value, formatTimestamp(timeNanos))
  }
  if (node !== undefined) addNode(add, node)
  await inTurns(onePerName(pods), podsWrittenATurn, (pod) => addPod(add, pod))
  add(f.error, '', failed ? 1n : 0n, 0n)
  return exposition.pieces()
}
