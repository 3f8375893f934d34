// Names of the fields that a runtime left out of its stats, for observe mode.
import type { ContainerStats, CpuUsage, MemoryUsage, PodSandboxStats } from '../../cri-api/api.js'

type Named = Readonly<Record<string, unknown>>

const absent = (prefix: string, fields: Named): string[] =>
  Object.entries(fields)
    .filter(([, value]) => value === undefined)
    .map(([name]) => `${prefix}${name}`)

const inCpu = (prefix: string, cpu: CpuUsage | undefined): string[] =>
  cpu === undefined
    ? [`${prefix}cpu`]
    : absent(`${prefix}cpu.`, {
        usage_core_nano_seconds: cpu.usageCoreNanoSeconds,
        usage_nano_cores: cpu.usageNanoCores,
        psi: cpu.psi,
      })

const inMemory = (prefix: string, m: MemoryUsage | undefined): string[] =>
  m === undefined
    ? [`${prefix}memory`]
    : absent(`${prefix}memory.`, {
        working_set_bytes: m.workingSetBytes,
        available_bytes: m.availableBytes,
        usage_bytes: m.usageBytes,
        rss_bytes: m.rssBytes,
        page_faults: m.pageFaults,
        major_page_faults: m.majorPageFaults,
        psi: m.psi,
      })

export const missingInContainer = (c: ContainerStats, prefix = ''): string[] => [
  ...inCpu(prefix, c.cpu),
  ...inMemory(prefix, c.memory),
  ...absent(prefix, { writable_layer: c.writableLayer, swap: c.swap, io: c.io }),
]

export function missingInPod({ linux, windows }: PodSandboxStats): string[] {
  if (windows !== undefined) return []
  if (linux === undefined) return ['linux']
  const own = [
    ...inCpu('linux.', linux.cpu),
    ...inMemory('linux.', linux.memory),
    ...absent('linux.', { network: linux.network, process: linux.process, io: linux.io }),
  ]
  return [
    ...new Set([...own, ...linux.containers.flatMap((c) => missingInContainer(c, 'linux.containers.'))]),
  ]
}
