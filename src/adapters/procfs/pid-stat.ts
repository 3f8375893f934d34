// Who a process id belongs to right now.
import { readFile } from 'node:fs/promises'
import { type PidStat, parsePidStat } from '../../core/kernel-text/pid-stat.js'

/** Undefined: there is no such process. */
export async function readPidStat(pid: number): Promise<PidStat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parsePidStat(text)
}
