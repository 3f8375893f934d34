// The cgroup of one container or sandbox: its process from the verbose status, its place from the kernel.
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { RuntimeService } from '../../ports/runtime.js'
import { parsePid, pathIn } from '../driver/sandboxes.js'

export interface CgroupFinder {
  /** Undefined: it has no process yet, or has it no more. */
  ofContainer(containerId: string, signal: AbortSignal): Promise<CgroupPath | undefined>
  ofSandbox(podSandboxId: string, signal: AbortSignal): Promise<CgroupPath | undefined>
}

export interface CgroupFinderOptions {
  readonly runtime: Pick<RuntimeService, 'containerStatus' | 'podSandboxStatus'>
  readonly procfs: Pick<Procfs, 'cgroupOf'>
  readonly cgroupVersion: 'v1' | 'v2'
}

const timeoutMs = 5_000

/** A container may put its processes into cgroups below its own: up to the part that carries its id. */
export function ownPart(path: CgroupPath, id: string): CgroupPath | undefined {
  const parts = path.split('/')
  const at = parts.findLastIndex((part) => part.includes(id))
  return at < 0 ? undefined : parts.slice(0, at + 1).join('/')
}

export function createCgroupFinder({ runtime, procfs, cgroupVersion }: CgroupFinderOptions): CgroupFinder {
  const locate = (info: string | undefined, id: string): CgroupPath | undefined => {
    const pid = parsePid(info)
    const path = pid === undefined ? undefined : pathIn(procfs.cgroupOf(pid), cgroupVersion)
    return path === undefined ? undefined : ownPart(path, id)
  }
  return {
    async ofContainer(containerId, signal) {
      const { info, status } = await runtime.containerStatus(
        { containerId, verbose: true },
        { timeoutMs, signal },
      )
      return locate(info.info, status?.id ?? containerId)
    },
    async ofSandbox(podSandboxId, signal) {
      const { info, status } = await runtime.podSandboxStatus(
        { podSandboxId, verbose: true },
        { timeoutMs, signal },
      )
      return locate(info.info, status?.id ?? podSandboxId)
    },
  }
}
