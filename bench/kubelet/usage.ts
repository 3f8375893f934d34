// Processor time and memory of a node's software, apart: kubelet, containerd, shims (with the runc that they run) and, where
// it stands in front, `keelson cri`. Inside a node environment every process of /proc belongs to the node.
import { readdirSync, readFileSync } from 'node:fs'
import { addUsage, containerdParts, noUsage, type Usage, usageOf } from '../process-usage.js'
import type { RunningStack } from './stack.js'

export const parts = ['kubelet', 'containerd', 'shims', 'server'] as const
export type PartName = (typeof parts)[number]
export type PartUsage = Readonly<Record<PartName, Usage>>

/** By the name that the kernel has for them, of which it keeps 15 letters. */
export const processesNamed = (name: string): number[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name.slice(0, 15)
      } catch {
        return false // it has ended meanwhile
      }
    })
    .map(Number)

/** The cgroup of containerd holds its shims too, and what they ran and collected: it never counts backwards. */
function runtimeCpuS(cgroup: string): number {
  const v2 = `/sys/fs/cgroup/${cgroup}/cpu.stat`
  const v1 = `/sys/fs/cgroup/cpuacct/${cgroup}/cpuacct.usage`
  try {
    return Number(readFileSync(v1, 'utf8')) / 1e9
  } catch {
    return Number(/^usage_usec (\d+)/m.exec(readFileSync(v2, 'utf8'))?.[1] ?? Number.NaN) / 1e6
  }
}

export function readUsage({ kubelet, server }: RunningStack, runtimeCgroup: string): PartUsage {
  const { daemon, shims } = containerdParts('')
  return {
    kubelet: usageOf(kubelet.pid ?? 0),
    containerd: daemon,
    shims: { cpuS: runtimeCpuS(runtimeCgroup) - daemon.cpuS, rssMiB: shims.rssMiB },
    server: server === undefined ? noUsage : usageOf(server.pid ?? 0),
  }
}

/** What was used between the two, and the memory at the end. */
export const usedBetween = (before: PartUsage, after: PartUsage): PartUsage => {
  const used = (part: PartName): Usage => ({
    cpuS: after[part].cpuS - before[part].cpuS,
    rssMiB: after[part].rssMiB,
  })
  return {
    kubelet: used('kubelet'),
    containerd: used('containerd'),
    shims: used('shims'),
    server: used('server'),
  }
}

export const totalOf = (usage: PartUsage): Usage => addUsage(...parts.map((part) => usage[part]))
