// What processes use of the machine, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

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

/**
 * Of the threads that the process has now, to the nanosecond; /proc/PID/stat counts in hundredths of a second, which is a tenth of what
 * a start takes.
 */
export function threadsCpuS(pid: number): number {
  const tasks = `/proc/${pid}/task`
  const ns = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, 'schedstat'), 'utf8').split(' ')[0])
  return ns.reduce((sum, n) => sum + Number(n), 0) / 1e9
}

export const noUsage: Usage = { cpuS: 0, rssMiB: 0 }

export const addUsage = (...parts: readonly Usage[]): Usage => ({
  cpuS: parts.reduce((sum, u) => sum + u.cpuS, 0),
  rssMiB: parts.reduce((sum, u) => sum + u.rssMiB, 0),
})

export interface ContainerdUsage {
  readonly daemon: Usage
  /** One for each pod. */
  readonly shims: Usage
}

/** Daemon and shims name its directory in their commands; so does every program that is told its socket. */
export function containerdParts(directory: string): ContainerdUsage {
  let daemon = noUsage
  let shims = noUsage
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (!command.includes(directory)) continue
      const program = basename(command.split('\0')[0] ?? '')
      if (program === 'containerd') daemon = addUsage(daemon, usageOf(Number(pid)))
      else if (program.startsWith('containerd-shim')) shims = addUsage(shims, usageOf(Number(pid)))
    } catch {
      // It has ended meanwhile.
    }
  return { daemon, shims }
}

export function containerdUsage(directory: string): Usage {
  const { daemon, shims } = containerdParts(directory)
  return addUsage(daemon, shims)
}
