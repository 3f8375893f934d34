// Cgroup v2 values that a container was asked to have (`unified`), for runtimes that drop them: compared with the kernel
// after a call, and written where they are missing. Values that the runtime wrote itself are never touched.
import { readControlText } from '../../core/cgroup/control-file.js'
import { isSettled } from '../../core/kernel-text/read-back.js'
import { pause } from '../../core/units/retry.js'
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { Counter } from '../../ports/metrics.js'
import type { CgroupFinder } from './cgroup-of.js'

type Unified = Readonly<Record<string, string>>

export interface UnifiedWriter {
  /** Created with these, or updated by them. */
  remember(containerId: string, unified: Unified): void
  forget(containerId: string): void
  isKnown(containerId: string): boolean
  /** Writes what was asked for, even if the caller has disconnected. Never throws: the runtime's part succeeded. */
  enforce(containerId: string): Promise<void>
  /** The same after a start that failed half way: the runtime may still complete it. */
  enforceLater(containerId: string): Promise<void>
  /**
   * What is in the kernel now, of the keys that were asked for. For a container from before our start, which we have
   * not seen created: what nothing but `unified` can have set.
   */
  snapshot(containerId: string, signal: AbortSignal): Promise<Unified>
  /** Restores these where a call changed them. */
  restore(containerId: string, before: Unified): Promise<void>
}

interface WriterOptions {
  readonly cgroups: Pick<CgroupTree, 'version' | 'read' | 'write'>
  readonly finder: CgroupFinder
  readonly pageSize: bigint
  readonly log: Log
  readonly written: Counter
  readonly clock: Pick<Clock, 'sleep'>
  /** Ends what waits. */
  readonly signal: AbortSignal
}

/** A node has a few hundred containers; beyond this the oldest are forgotten. */
const maxContainers = 10_000

/** No other field of CRI sets these. A value that the kernel gives to every cgroup was not asked for. */
const onlyUnified: Unified = { 'memory.min': '0', 'memory.low': '0', 'memory.high': 'max' }

/** The runtime has just answered. */
const lookUpMs = 5_000

/** After a failed start containerd may take seconds to complete it. */
const laterMs = [500, 2_000, 8_000, 20_000]

/** Files of controllers; the cgroup's own (cgroup.procs, cgroup.freeze) are not resources. */
const resourceFile = /^(memory|cpu|cpuset|io|pids|hugetlb|rdma|misc)\.[A-Za-z0-9_.]+$/

export function createUnifiedWriter({
  cgroups,
  finder,
  pageSize,
  log,
  written,
  clock,
  signal: life,
}: WriterOptions): UnifiedWriter {
  const asked = new Map<string, Unified>()

  /** Clients may give a unique prefix of an id. */
  const fullId = (id: string): string => {
    if (asked.has(id) || id === '') return id
    const [found, second] = [...asked.keys()].filter((key) => key.startsWith(id))
    return found !== undefined && second === undefined ? found : id
  }

  const now = (path: CgroupPath, file: string): string | undefined => readControlText(cgroups, path, file)

  /** False: it does not run. */
  async function writeMissing(containerId: string, wanted: Unified, why: string): Promise<boolean> {
    if (cgroups.version !== 'v2' || Object.keys(wanted).length === 0) return true
    try {
      const path = await finder.ofContainer(containerId, AbortSignal.timeout(lookUpMs))
      if (path === undefined) return false
      for (const [file, value] of Object.entries(wanted)) writeIfMissing(containerId, path, file, value, why)
      return true
    } catch (error) {
      log.error('failed to check the unified values of a container', { container: containerId, error })
      return false
    }
  }

  const enforce = (id: string): Promise<boolean> =>
    writeMissing(id, asked.get(fullId(id)) ?? {}, 'wrote a unified value that the runtime dropped')

  function writeIfMissing(
    container: string,
    path: CgroupPath,
    file: string,
    value: string,
    why: string,
  ): void {
    if (!resourceFile.test(file)) return
    const found = now(path, file)
    if (found !== undefined && isSettled(file, value, found, pageSize)) return
    try {
      cgroups.write(path, file, value)
      written.inc({ file })
      log.info(why, { container, file, value, found: found ?? null })
    } catch (error) {
      log.error('failed to write a unified value of a container', { container, file, value, error })
    }
  }

  return {
    remember(given, unified) {
      const id = fullId(given)
      const before = asked.get(id)
      if (before === undefined && Object.keys(unified).length === 0) return
      asked.delete(id)
      asked.set(id, { ...before, ...unified })
      const [oldest] = asked.keys()
      if (asked.size > maxContainers && oldest !== undefined) asked.delete(oldest)
    },
    forget: (id) => {
      asked.delete(fullId(id))
    },
    isKnown: (id) => asked.has(fullId(id)),
    async enforce(id) {
      await enforce(id)
    },
    async enforceLater(id) {
      for (const ms of laterMs) {
        await pause(clock, ms, life)
        if (life.aborted || !asked.has(fullId(id)) || (await enforce(id))) return
      }
    },
    async snapshot(id, signal) {
      const known = asked.get(fullId(id))
      if (cgroups.version !== 'v2') return {}
      const path = await finder.ofContainer(id, signal).catch(() => undefined)
      if (path === undefined) return {}
      return Object.fromEntries(
        Object.keys(known ?? onlyUnified).flatMap((file) => {
          const value = resourceFile.test(file) ? now(path, file) : undefined
          const isKernelDefault = known === undefined && value === onlyUnified[file]
          return value === undefined || value === '' || isKernelDefault ? [] : [[file, value]]
        }),
      )
    },
    async restore(id, before) {
      await writeMissing(
        id,
        before,
        'restored a unified value that the update did not name and the runtime changed',
      )
    },
  }
}
