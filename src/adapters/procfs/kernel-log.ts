// /dev/kmsg without waiting, and the count of kills in /proc/vmstat.
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { type KernelRecord, parseKernelRecord } from '../../core/kernel-text/oom-kill.js'
import type { KernelLog } from '../../ports/procfs.js'

/** A record has at most 8 KiB; the ring of a large machine some ten thousand of them. */
const recordBytes = 8192
const maxRecords = 100_000

const codeOf = (e: unknown): unknown => (e instanceof Error && 'code' in e ? e.code : undefined)

export const createKernelLog = ({ vmstat = '/proc/vmstat', kmsg = '/dev/kmsg' } = {}): KernelLog => ({
  oomKills() {
    try {
      const count = /^oom_kill (\d+)$/m.exec(readFileSync(vmstat, 'utf8'))?.[1]
      return count === undefined ? undefined : BigInt(count)
    } catch {
      return undefined
    }
  },
  records() {
    try {
      const fd = openSync(kmsg, constants.O_RDONLY | constants.O_NONBLOCK)
      try {
        return readRecords(fd)
      } finally {
        closeSync(fd)
      }
    } catch {
      return undefined
    }
  },
})

/** One record for each read. EPIPE: records were overwritten, the next read goes on behind them. EAGAIN: that was the last. */
function readRecords(fd: number): readonly KernelRecord[] {
  const buffer = Buffer.allocUnsafe(recordBytes)
  const records: KernelRecord[] = []
  for (let n = 0; n < maxRecords; n++) {
    try {
      const length = readSync(fd, buffer, 0, recordBytes, null)
      if (length === 0) break
      const record = parseKernelRecord(buffer.toString('utf8', 0, length))
      if (record !== undefined) records.push(record)
    } catch (e) {
      if (codeOf(e) === 'EPIPE') continue
      if (codeOf(e) === 'EAGAIN') break
      throw e
    }
  }
  return records
}
