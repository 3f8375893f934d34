// Time that a process was ready and had no processor: what it took longer because of others on the machine.
import { readFileSync } from 'node:fs'

/** Of the main thread, in ms since its start; 0 where the kernel does not count it. */
export function processorWaitMs(pid: number | 'self'): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
