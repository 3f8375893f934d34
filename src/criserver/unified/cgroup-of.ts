// The cgroup of one container or sandbox: its process from the verbose status, its place from the kernel.
import { parentPath } from '../../core/cgroup/path.js'
import { parsePid } from '../../core/cri/verbose-status.js'
import { memoryCgroup } from '../../core/kernel-text/proc-cgroup.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Procfs } from '../../ports/procfs.js'
import type { RuntimeService } from '../../ports/runtime.js'

export interface CgroupFinder {
  /** Undefined: it has no process yet, or has it no more. */
  ofContainer(containerId: string, signal: AbortSignal): Promise<CgroupPath | undefined>
  /** The cgroup around the sandbox and its containers. Undefined: there is none that is this pod's alone. */
  ofPod(podSandboxId: string, signal: AbortSignal): Promise<CgroupPath | undefined>
}

interface CgroupFinderOptions {
  readonly runtime: Pick<RuntimeService, 'containerStatus' | 'podSandboxStatus'>
  readonly procfs: Pick<Procfs, 'cgroupOf'>
  readonly cgroupVersion: 'v1' | 'v2'
}

const timeoutMs = 5_000

/** A container may put its processes into cgroups below its own: up to the part that carries its id. */
function ownPart(path: CgroupPath, id: string): CgroupPath | undefined {
  const parts = path.split('/')
  const at = parts.findLastIndex((part) => part.includes(id))
  return at < 0 ? undefined : parts.slice(0, at + 1).join('/')
}

/**
 * `/kubepods/burstable/pod0a1b-2c` and `.../kubepods-burstable-pod0a1b_2c.slice` are of the pod 0a1b-2c. Sandboxes made without
 * a parent share one (`/k8s.io` of containerd), and its limits are not one pod's.
 */
function isOfPod(path: CgroupPath, uid: string): boolean {
  const plain = (text: string): string => text.replaceAll('_', '-')
  const last = plain(path.slice(path.lastIndexOf('/') + 1)).replace(/\.slice$/, '')
  return uid !== '' && last.endsWith(plain(uid))
}

export function createCgroupFinder({ runtime, procfs, cgroupVersion }: CgroupFinderOptions): CgroupFinder {
  const locate = (info: string | undefined, id: string): CgroupPath | undefined => {
    const pid = parsePid(info)
    const path = pid === undefined ? undefined : memoryCgroup(procfs.cgroupOf(pid), cgroupVersion)
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
    async ofPod(podSandboxId, signal) {
      const { info, status } = await runtime.podSandboxStatus(
        { podSandboxId, verbose: true },
        { timeoutMs, signal },
      )
      const own = locate(info.info, status?.id ?? podSandboxId)
      const around = own === undefined ? undefined : parentPath(own)
      return around !== undefined && isOfPod(around, status?.metadata?.uid ?? '') ? around : undefined
    },
  }
}
