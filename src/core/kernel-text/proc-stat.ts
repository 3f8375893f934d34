// /proc/stat: processor time in clock ticks, boot time, processes; and the number of tasks, which is in /proc/loadavg.
import { splitLines } from './words.js'

/** In USER_HZ ticks, which is 100 a second on every Linux that user space sees. */
export interface CpuTicks {
  readonly user: bigint
  readonly nice: bigint
  readonly system: bigint
  readonly idle: bigint
  readonly iowait: bigint
  readonly irq: bigint
  readonly softirq: bigint
  readonly steal: bigint
}

export interface ProcStat {
  readonly total: CpuTicks
  readonly perCpu: ReadonlyMap<number, CpuTicks>
  readonly bootTimeSeconds: bigint
  readonly processesForked: bigint
  readonly procsRunning: bigint
  readonly procsBlocked: bigint
}

export const ticksPerSecond = 100n

/** user and nice already hold guest and guest_nice: those two columns are left out. */
function parseTicks(words: readonly string[]): CpuTicks {
  const at = (i: number): bigint => (/^\d+$/.test(words[i] ?? '') ? BigInt(words[i] ?? 0) : 0n)
  return {
    user: at(1),
    nice: at(2),
    system: at(3),
    idle: at(4),
    iowait: at(5),
    irq: at(6),
    softirq: at(7),
    steal: at(8),
  }
}

export function parseProcStat(text: string): ProcStat {
  const lines = new Map(splitLines(text).map((line) => [line.split(' ', 1)[0] ?? '', line.split(/\s+/)]))
  const count = (name: string): bigint => BigInt(lines.get(name)?.[1] ?? 0)
  const perCpu = new Map<number, CpuTicks>()
  for (const [name, words] of lines)
    if (/^cpu\d+$/.test(name)) perCpu.set(Number(name.slice(3)), parseTicks(words))
  return {
    total: parseTicks(lines.get('cpu') ?? []),
    perCpu,
    bootTimeSeconds: count('btime'),
    processesForked: count('processes'),
    procsRunning: count('procs_running'),
    procsBlocked: count('procs_blocked'),
  }
}

/** /proc/loadavg, `0.20 0.18 0.12 1/80 11206`: the number of tasks, after the slash. */
export const parseTaskCount = (text: string): bigint | undefined => {
  const [, count] = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text) ?? []
  return count === undefined ? undefined : BigInt(count)
}
