// Readers of /proc and /sys: find the file, read it, hand it to its parser. The roots are options, for captured trees.
import { readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { keelsonError } from '../../core/errors.js'
import { parsePageSize } from '../../core/kernel-text/auxv.js'
import { parseCpuInfo } from '../../core/kernel-text/cpuinfo.js'
import { parseDiskStats } from '../../core/kernel-text/diskstats.js'
import { parseMemInfo } from '../../core/kernel-text/meminfo.js'
import { parseMountInfo } from '../../core/kernel-text/mountinfo.js'
import { parseNetDev } from '../../core/kernel-text/net-dev.js'
import { parsePressure } from '../../core/kernel-text/pressure.js'
import { parseProcCgroup } from '../../core/kernel-text/proc-cgroup.js'
import { parseMaxOpenFiles } from '../../core/kernel-text/proc-limits.js'
import { parseProcStat, parseTaskCount } from '../../core/kernel-text/proc-stat.js'
import type { Procfs } from '../../ports/procfs.js'
import { absent } from './absent.js'
import { countOpenFiles } from './open-files.js'
import { countTaskStates } from './task-states.js'

interface ProcfsOptions {
  readonly proc?: string
  readonly sys?: string
  /** Descriptors looked at per process. Default 65,536. */
  readonly maxDescriptors?: number
}

const MAX_DESCRIPTORS = 65_536

export function createProcfs({
  proc = '/proc',
  sys = '/sys',
  maxDescriptors = MAX_DESCRIPTORS,
}: ProcfsOptions = {}): Procfs {
  /** Files that every kernel has: a missing one is a broken /proc, and said so. */
  const need = (name: string): Buffer => {
    try {
      return readFileSync(join(proc, name))
    } catch (error) {
      throw keelsonError(
        'input.unreadable',
        `read ${join(proc, name)}: is proc mounted there?`,
        { file: name },
        error,
      )
    }
  }
  const text = (name: string): string => need(name).toString('utf8')
  const ofProcess = <T>(pid: number, name: string, parse: (text: string) => T): T | undefined => {
    const content = absent(() => readFileSync(join(proc, String(pid), name), 'utf8'))
    return content === undefined ? undefined : parse(content)
  }
  return {
    cpuInfo: () => parseCpuInfo(text('cpuinfo')),
    memInfo: () => parseMemInfo(text('meminfo')),
    stat: () => parseProcStat(text('stat')),
    diskStats: () => parseDiskStats(text('diskstats')),
    mountInfo: (pid) =>
      pid === undefined
        ? parseMountInfo(text('self/mountinfo'))
        : ofProcess(pid, 'mountinfo', parseMountInfo),
    netDev: (pid) => ofProcess(pid, 'net/dev', parseNetDev),
    pidLimits: () => ({
      pidMax: BigInt(text('sys/kernel/pid_max').trim()),
      threadsMax: BigInt(text('sys/kernel/threads-max').trim()),
    }),
    maxOpenFiles: (pid) => ofProcess(pid, 'limits', parseMaxOpenFiles),
    networkNamespace: (pid) =>
      absent(() => readlinkSync(join(proc, pid === undefined ? 'self' : String(pid), 'ns/net'))),
    taskCount() {
      const content = absent(() => readFileSync(join(proc, 'loadavg'), 'utf8'))
      return content === undefined ? undefined : parseTaskCount(content)
    },
    taskStates: (pid) => countTaskStates(join(proc, String(pid), 'task'), maxDescriptors),
    openFiles: (pid) => countOpenFiles(join(proc, String(pid), 'fd'), maxDescriptors),
    isKernelThread: (pid) => absent(() => readlinkSync(join(proc, String(pid), 'exe'))) === undefined,
    cgroupOf: (pid) => ofProcess(pid, 'cgroup', parseProcCgroup),
    osRelease: () => text('sys/kernel/osrelease').trim(),
    sysctl: (name) => absent(() => readFileSync(join(proc, 'sys', name.replaceAll('.', '/')), 'utf8').trim()),
    pageSize() {
      const size = parsePageSize(need('self/auxv'))
      if (size === undefined)
        throw keelsonError(
          'input.unreadable',
          `read the page size from ${join(proc, 'self/auxv')}: it has no AT_PAGESZ`,
        )
      return size
    },
    deviceName(majorMinor) {
      if (!/^\d+:\d+$/.test(majorMinor)) return undefined
      const target = absent(() => readlinkSync(join(sys, 'dev/block', majorMinor)))
      return target === undefined ? undefined : basename(target)
    },
    pressure(resource) {
      const content = absent(() => readFileSync(join(proc, 'pressure', resource)))
      return content === undefined ? undefined : parsePressure(content)
    },
  }
}
