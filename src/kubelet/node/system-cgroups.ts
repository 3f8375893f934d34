// kubeletCgroups and systemCgroups: every minute the kubelet is moved to the one, and other processes of the root cgroup to
// the other, as upstream does. Process 1 and the kernel's own stay where they are.
import type { EffectiveConfig } from '../../config/effective.js'
import { parsePids } from '../../core/kernel-text/words.js'
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import { systemContainers } from './decide/system-containers.js'

type SystemPorts = Pick<KubeletPorts, 'clock' | 'log' | 'host' | 'procfs'>

const everyMs = 60_000

interface SystemCgroups {
  /** `kubelet`, `runtime` and `misc` of the summary, as far as they have a cgroup. */
  readonly containers: Readonly<Record<string, CgroupPath>>
  /** Resolves when the signal aborts. */
  readonly done: Promise<void>
}

export function startSystemCgroups(
  {
    kubelet: { kubeletCgroups, systemCgroups },
    process: flags,
  }: Pick<EffectiveConfig, 'kubelet' | 'process'>,
  cgroups: Pick<CgroupTree, 'version' | 'read' | 'addProcess'>,
  { clock, log, host: { pid: own }, procfs }: SystemPorts,
  signal: AbortSignal,
): SystemCgroups {
  const named = (): Readonly<Record<string, CgroupPath>> =>
    systemContainers({
      kubeletCgroups,
      systemCgroups,
      runtimeCgroups: flags['runtime-cgroups'],
      own: procfs.cgroupOf(own),
      version: cgroups.version,
    })

  function attempt(pid: number, path: CgroupPath): void {
    try {
      cgroups.addProcess(path, pid)
    } catch (error) {
      // It may have ended meanwhile; the next round tries what is left.
      log.warn('a process cannot be moved to its system cgroup', { pid, cgroup: path, error })
    }
  }

  function move(): void {
    const { kubelet, misc } = named()
    if (kubeletCgroups !== undefined && kubelet !== undefined) attempt(own, kubelet)
    if (misc === undefined) return
    const listed = cgroups.read('/', 'cgroup.procs')
    // 0 is a process outside of this pid namespace.
    const pids = listed === undefined ? [] : parsePids(listed).filter((pid) => pid > 1)
    for (const pid of pids) if (!procfs.isKernelThread(pid)) attempt(pid, misc)
  }

  async function keep(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal).catch(() => undefined)
      if (!signal.aborted) move()
    }
  }

  move()
  const asked = kubeletCgroups !== undefined || systemCgroups !== undefined
  return { containers: named(), done: asked ? keep() : Promise.resolve() }
}
