// Cgroup paths of running sandboxes: the pid from the verbose status, the path from the kernel.

import { parsePid } from '../../core/cri/verbose-status.js'
import type { SandboxCgroup } from '../../core/driver/proof.js'
import { memoryCgroup } from '../../core/kernel-text/proc-cgroup.js'
import { PodSandboxState } from '../../cri-api/api.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import type { RuntimeService } from '../../ports/runtime.js'

export interface SandboxInput {
  readonly runtime: Pick<RuntimeService, 'listPodSandbox' | 'podSandboxStatus'>
  readonly procfs: Pick<Procfs, 'cgroupOf'>
  readonly cgroupVersion: 'v1' | 'v2'
  readonly log: Log
  readonly signal: AbortSignal
}

/** A full node has 110 pods, and one in the wrong place is enough. */
const maxSandboxes = 512
const atOnce = 8
const timeoutMs = 5_000
/** In all: some of them are evidence too, and the caller of a slow runtime has a deadline. */
const wholeMs = 1_500

/** Undefined: the runtime could not be asked. */
export async function readSandboxCgroups(input: SandboxInput): Promise<readonly SandboxCgroup[] | undefined> {
  const o = { ...input, signal: AbortSignal.any([input.signal, AbortSignal.timeout(wholeMs)]) }
  const options = { timeoutMs, signal: o.signal }
  const filter = { state: { state: PodSandboxState.SANDBOX_READY } }
  try {
    const { items } = await o.runtime.listPodSandbox({ filter }, options)
    const queue = items.slice(0, maxSandboxes)
    const found: SandboxCgroup[] = []
    const work = async (): Promise<void> => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        const { id, metadata } = item
        const path = await readPath(id, o)
        if (path !== undefined)
          found.push({ id, pod: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, path })
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  } catch (error) {
    o.log.debug('running sandboxes were not looked at', { error })
    return undefined
  }
}

async function readPath(podSandboxId: string, o: SandboxInput): Promise<string | undefined> {
  try {
    const request = { podSandboxId, verbose: true }
    const { info } = await o.runtime.podSandboxStatus(request, { timeoutMs, signal: o.signal })
    const pid = parsePid(info.info)
    return pid === undefined ? undefined : memoryCgroup(o.procfs.cgroupOf(pid), o.cgroupVersion)
  } catch (error) {
    o.log.debug('a sandbox was not looked at', { sandbox: podSandboxId, error })
    return undefined
  }
}
