// The node as a whole: capacity, what is left of it, and pressure, with the reason where the kernel has none.

import type { LiveNode } from '../../core/dashboard/model.js'
import type { CpuTicks } from '../../core/kernel-text/proc-stat.js'
import type { Procfs } from '../../ports/procfs.js'
import { livePressures } from './dashboard-values.js'

interface NodeReaderOptions {
  readonly name: string
  readonly cgroupVersion: 'v1' | 'v2' | undefined
  readonly procfs: Pick<Procfs, 'cpuInfo' | 'memInfo' | 'stat' | 'pressure' | 'osRelease'>
}

const busy = (t: CpuTicks): bigint => t.user + t.nice + t.system + t.irq + t.softirq + t.steal
const all = (t: CpuTicks): bigint => busy(t) + t.idle + t.iowait

export function createLiveNodeReader({ name, cgroupVersion, procfs }: NodeReaderOptions): () => LiveNode {
  const cpus = procfs.cpuInfo().processors
  const kernel = procfs.osRelease()
  let before: CpuTicks | undefined

  /** Share of all ticks, so that the time between two readings does not matter. */
  function cpuMilli(now: CpuTicks): number | null {
    const ticks = before === undefined ? 0n : all(now) - all(before)
    const used = before === undefined ? 0n : busy(now) - busy(before)
    return ticks <= 0n ? null : Math.round((Number(used) * cpus * 1000) / Number(ticks))
  }

  return () => {
    const memory = procfs.memInfo()
    const { total } = procfs.stat()
    const milli = cpuMilli(total)
    // Too few ticks say nothing: keep counting from the last good reading.
    if (before === undefined || milli !== null) before = total
    const pressure = livePressures({
      cpu: procfs.pressure('cpu'),
      memory: procfs.pressure('memory'),
      io: procfs.pressure('io'),
    })
    const hasPressure = pressure !== null && pressure.memory !== null
    return {
      name,
      kernel,
      cgroupVersion: cgroupVersion ?? null,
      cpus,
      memoryCapacity: (memory.get('MemTotal') ?? 0n).toString(),
      memoryAvailable: (memory.get('MemAvailable') ?? 0n).toString(),
      cpuMilli: milli,
      pressure: hasPressure ? pressure : null,
      noPressure: hasPressure
        ? null
        : 'this kernel does not report pressure: it was built without PSI, or booted without psi=1',
    }
  }
}
