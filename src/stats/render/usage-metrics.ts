// The families that CRI's stats are enough for: for pods whose cgroups say nothing, and for pods that a runtime leaves out
// of its metrics.
import { cpuFamilies as cpu } from '../catalogue/cpu.js'
import type { ExtraLabels, Family } from '../catalogue/family.js'
import { memoryFamilies as memory } from '../catalogue/memory.js'
import { networkFamilies as net } from '../catalogue/network.js'
import { cpuTotal } from '../collectors/cpu.js'
import { interfaceLabels } from '../collectors/network.js'
import type { NetworkUsage, Usage } from '../usage.js'

export type EmitAt = (family: Family, value: bigint, timeNanos: bigint, extra?: ExtraLabels) => void

export function emitUsage({ cpu: c, memory: m, swap }: Usage, emit: EmitAt): void {
  const known = (family: Family, value: bigint | undefined, timeNanos: bigint): void => {
    if (value !== undefined) emit(family, value, timeNanos)
  }
  if (c?.usageCoreNanoSeconds !== undefined && c.usageCoreNanoSeconds > 0n)
    emit(cpu.container_cpu_usage_seconds_total, c.usageCoreNanoSeconds, c.timeNanos, cpuTotal)
  if (m !== undefined) {
    known(memory.container_memory_usage_bytes, m.usageBytes, m.timeNanos)
    known(memory.container_memory_working_set_bytes, m.workingSetBytes, m.timeNanos)
    known(memory.container_memory_rss, m.rssBytes, m.timeNanos)
  }
  if (swap !== undefined) known(memory.container_memory_swap, swap.usageBytes, swap.timeNanos)
}

/** Of a pod. CRI counts no packets that arrived. */
export function emitNetworkUsage(network: NetworkUsage | undefined, emit: EmitAt): void {
  if (network === undefined) return
  const { timeNanos, defaultInterface: first, interfaces } = network
  for (const i of first === undefined ? interfaces : [first, ...interfaces]) {
    const labels = interfaceLabels(i.name)
    const known = (family: Family, value: bigint | undefined): void => {
      if (value !== undefined) emit(family, value, timeNanos, labels)
    }
    known(net.container_network_receive_bytes_total, i.rxBytes)
    known(net.container_network_receive_errors_total, i.rxErrors)
    known(net.container_network_receive_packets_dropped_total, i.rxDropped)
    known(net.container_network_transmit_bytes_total, i.txBytes)
    known(net.container_network_transmit_errors_total, i.txErrors)
    known(net.container_network_transmit_packets_dropped_total, i.txDropped)
  }
}
