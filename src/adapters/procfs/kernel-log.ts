// /dev/kmsg without waiting, and the count of kills in /proc/vmstat.
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { type KernelRecord, parseKernelRecord } from '../../core/kernel-text/oom-kill.js'
import type { KernelLog, KernelRecords } from '../../ports/procfs.js'

/** A record has at most 8 KiB. */
const recordBytes = 8192

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
  openRecords() {
    try {
      return readerOf(openSync(kmsg, constants.O_RDONLY | constants.O_NONBLOCK))
    } catch {
      return undefined
    }
  },
})

/** The descriptor remembers how far it has read. */
function readerOf(fd: number): KernelRecords {
  const buffer = Buffer.allocUnsafe(recordBytes)
  return {
    next(most) {
      const records: KernelRecord[] = []
      for (let n = 0; n < most; n++) {
        const length = readOne(fd, buffer)
        if (length === 0) return { records, isLast: true }
        const record =
          length === undefined ? undefined : parseKernelRecord(buffer.toString('utf8', 0, length))
        if (record !== undefined) records.push(record)
      }
      return { records, isLast: false }
    },
    close: () => closeSync(fd),
  }
}

/** 0: there is no more now (EAGAIN). Undefined: records were overwritten, the next read goes on behind them. */
function readOne(fd: number, buffer: Buffer): number | undefined {
  try {
    return readSync(fd, buffer, 0, recordBytes, null)
  } catch (e) {
    return codeOf(e) === 'EPIPE' ? undefined : 0
  }
}
