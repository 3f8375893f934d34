// What processes use of the machine, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

export interface Usage {
  readonly cpuS: number
  readonly rssMiB: number
}

export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const rss = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  return { cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, rssMiB: rss / 1024 }
}

/** containerd and its shims, which name its directory. */
export function containerdUsage(directory: string): Usage {
  let cpuS = 0
  let rssMiB = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (!command.includes('containerd') || !command.includes(directory)) continue
      const usage = usageOf(Number(pid))
      cpuS += usage.cpuS
      rssMiB += usage.rssMiB
    } catch {
      // It has ended meanwhile.
    }
  return { cpuS, rssMiB }
}
