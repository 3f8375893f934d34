// Reads the values of the node itself: the root cgroup, the slices above the pods, and the system containers.
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import { minus } from '../collectors/amounts.js'
import type { CollectContext } from '../collectors/collector.js'
import { emitCgroup } from '../collectors/index.js'
import { memory } from '../collectors/memory.js'
import { emitNetwork } from '../collectors/network.js'
import { createCpuHistory } from '../cpu-rate.js'
import { emitTimes } from '../render/cgroup-metrics.js'
import { cgroupLabels } from '../render/label-set.js'
import type { NodeReading, NodeSample, SystemContainer } from '../sample.js'
import type { MemoryUsage, Usage } from '../usage.js'
import {
  type CgroupValues,
  cpuReading,
  memoryUsage,
  networkUsage,
  readCgroup,
  usageFrom,
} from './container-stats.js'
import { hugePageBytes, type NodeValues, readNode, readNodeMemory } from './node-values.js'

interface NodeReaderOptions {
  readonly context: CollectContext
  readonly procfs: Procfs
  readonly nowNanos: () => bigint
  /** A process in the node's network namespace. */
  readonly hostPid: number
  /** `kubelet`, `runtime`, `pods`, `misc` -> cgroup. */
  readonly systemContainers: Readonly<Record<string, CgroupPath>>
  /** Cgroups with series of their own: kubepods and the two QoS cgroups below it. */
  readonly slices: readonly CgroupPath[]
  /** Gate HugepageAwareEviction: memory set aside for huge pages is not available. */
  readonly hugepageAware: boolean
  readonly startedAtNanos: bigint
}

/** The root's own pressure is the machine's; CRI's rules for a container without a limit do not apply here. */
function nodeMemory<M extends MemoryUsage | undefined>(
  used: M,
  hugePages: bigint,
  hugepageAware: boolean,
): M {
  if (used?.availableBytes === undefined || !hugepageAware) return used
  return { ...used, availableBytes: minus(used.availableBytes, hugePages) }
}

const nodeUsage = (
  { cgroup, hugePageBytes: bytes }: NodeValues,
  usage: Usage,
  hugepageAware: boolean,
): Usage =>
  cgroup.memory === undefined ? usage : { ...usage, memory: nodeMemory(usage.memory, bytes, hugepageAware) }

const smaller = (a: bigint, b: bigint): bigint => (b < a ? b : a)

export interface NodeReader {
  read(): NodeReading
  /** Memory alone, cheap enough for several looks a second. */
  memory(): NodeMemory
  /** Process ids in use and available, now. */
  processes(): NonNullable<NodeSample['rlimit']>
}

/** Undefined: not to be read, or without a limit. */
export interface NodeMemory {
  readonly node: MemoryUsage | undefined
  /** The cgroup above all pods. */
  readonly pods: MemoryUsage | undefined
}

export function createNodeReader(o: NodeReaderOptions): NodeReader {
  const { context, procfs, nowNanos } = o
  const history = createCpuHistory()
  const usageOf = (key: string, values: CgroupValues): Usage =>
    usageFrom(values, history.exchange(key, cpuReading(values)))

  function systemContainers(
    valuesOf: (path: CgroupPath) => CgroupValues | undefined,
    bootNanos: bigint,
  ): SystemContainer[] {
    return Object.entries(o.systemContainers).flatMap(([name, path]) => {
      const values = valuesOf(path)
      if (values === undefined) return []
      const startTimeNanos = name === 'kubelet' ? o.startedAtNanos : bootNanos
      return [{ name, startTimeNanos, usage: usageOf(`system ${name}`, values) }]
    })
  }

  const processes = (): NonNullable<NodeSample['rlimit']> => {
    const { pidMax, threadsMax } = procfs.pidLimits()
    return { timeNanos: nowNanos(), maxPid: smaller(pidMax, threadsMax), processes: procfs.taskCount() }
  }

  const readPods = (timeNanos: bigint): MemoryUsage | undefined => {
    const path = o.systemContainers['pods']
    if (path === undefined) return undefined
    return memoryUsage({ timeNanos, memory: memory.read(path, 'pod', context), pressure: undefined })
  }

  return {
    processes,
    memory() {
      const timeNanos = nowNanos()
      const info = procfs.memInfo()
      const whole = memoryUsage({ timeNanos, memory: readNodeMemory(context, info), pressure: undefined })
      return {
        node: nodeMemory(whole, hugePageBytes(info), o.hugepageAware),
        pods: readPods(timeNanos),
      }
    },
    read() {
      const node = readNode(context, procfs, o.hostPid, nowNanos)
      const bootNanos = procfs.stat().bootTimeSeconds * 1_000_000_000n
      const paths = new Set([...o.slices, ...Object.values(o.systemContainers)])
      const byPath = new Map<CgroupPath, CgroupValues>()
      for (const path of paths) {
        const values = readCgroup(path, 'pod', context, nowNanos)
        if (values !== undefined) byPath.set(path, values)
      }
      const sample: NodeSample = {
        timeNanos: node.cgroup.timeNanos,
        startTimeNanos: bootNanos,
        usage: nodeUsage(node, usageOf('/', node.cgroup), o.hugepageAware),
        network: node.network && networkUsage(node.network, node.cgroup.timeNanos),
        rlimit: processes(),
        systemContainers: systemContainers((path) => byPath.get(path), bootNanos),
      }
      history.sweep()
      return {
        sample,
        write(labelSets, write, switches) {
          if (switches.rows.node)
            write(cgroupLabels(labelSets, 'node', '/'), node.cgroup.timeNanos, (emit) => {
              emitCgroup(node.cgroup, emit)
              emitTimes(bootNanos, node.cgroup.timeNanos, emit)
              if (node.network !== undefined) emitNetwork(node.network, emit)
            })
          if (switches.rows.slices)
            for (const [path, values] of byPath)
              write(cgroupLabels(labelSets, 'slice', path), values.timeNanos, (emit) => {
                emitCgroup(values, emit)
                emitTimes(0n, values.timeNanos, emit)
              })
        },
      }
    },
  }
}
