// Collects what core/driver/proof.ts looks at: cgroup paths of running sandboxes, the two pod trees, the runtime's
// handlers. Reads only. What cannot be had is left out: proof must never keep a node from starting.

import {
  type CgroupDriver,
  type CgroupName,
  formatCgroupPath,
  parseCgroupfsPath,
} from '../../core/cgroup/name.js'
import { parsePid } from '../../core/cri/verbose-status.js'
import { type HandlerSetting, parseHandlerSettings } from '../../core/driver/evidence.js'
import type { SandboxCgroup } from '../../core/driver/proof.js'
import { memoryCgroup } from '../../core/kernel-text/proc-cgroup.js'
import { type PodSandbox, PodSandboxState } from '../../cri-api/api.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import type { RuntimeService } from '../../ports/runtime.js'

/** Enough to see a pattern; a full node has 110 pods. */
const maxSandboxes = 256
const atOnce = 8
const callTimeoutMs = 5_000
const maxCgroups = 2_000
/** Proof is a help, not a condition: all of it gets this long. */
const wholeMs = 10_000

interface EvidenceInput {
  readonly runtime: Pick<RuntimeService, 'listPodSandbox' | 'podSandboxStatus' | 'status'>
  readonly procfs: Pick<Procfs, 'cgroupOf'>
  readonly cgroups: CgroupTree
  /** cgroupRoot of the configuration. */
  readonly cgroupRoot: string | undefined
  readonly log: Log
  /** Ends the start itself; running out of time only ends the gathering. */
  readonly signal: AbortSignal
}

interface Evidence {
  /** False: the runtime did not list its sandboxes, so having none here says nothing. */
  readonly isListed: boolean
  readonly sandboxes: readonly SandboxCgroup[]
  readonly populated: Readonly<Record<CgroupDriver, boolean>>
  readonly handlers: readonly HandlerSetting[]
}

export async function gatherEvidence(given: EvidenceInput): Promise<Evidence> {
  const input = { ...given, signal: AbortSignal.any([given.signal, AbortSignal.timeout(wholeMs)]) }
  const root: CgroupName = [...parseCgroupfsPath(input.cgroupRoot ?? '/'), 'kubepods']
  const [sandboxes, handlers] = await Promise.all([readSandboxes(input), readHandlers(input)])
  given.signal.throwIfAborted()
  return {
    isListed: sandboxes !== undefined,
    sandboxes: sandboxes ?? [],
    handlers,
    populated: {
      cgroupfs: holdsProcesses(input.cgroups, formatCgroupPath(root, 'cgroupfs')),
      systemd: holdsProcesses(input.cgroups, formatCgroupPath(root, 'systemd')),
    },
  }
}

async function readSandboxes(input: EvidenceInput): Promise<readonly SandboxCgroup[] | undefined> {
  const { runtime, signal, log } = input
  const options = { timeoutMs: callTimeoutMs, signal }
  try {
    const filter = { state: { state: PodSandboxState.SANDBOX_READY } }
    const { items } = await runtime.listPodSandbox({ filter }, options)
    const queue = items.slice(0, maxSandboxes)
    const found: SandboxCgroup[] = []
    const work = async (): Promise<void> => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift())
        found.push(...(await readSandbox(item, input)))
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  } catch (error) {
    log.debug('failed to inspect running sandboxes', { error })
    return undefined
  }
}

async function readSandbox(
  { id, metadata }: PodSandbox,
  { runtime, procfs, cgroups, signal, log }: EvidenceInput,
): Promise<readonly SandboxCgroup[]> {
  try {
    const options = { timeoutMs: callTimeoutMs, signal }
    const { info } = await runtime.podSandboxStatus({ podSandboxId: id, verbose: true }, options)
    const pid = parsePid(info.info)
    const path = pid === undefined ? undefined : memoryCgroup(procfs.cgroupOf(pid), cgroups.version)
    return path === undefined
      ? []
      : [{ id, pod: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`, path }]
  } catch (error) {
    log.debug('failed to inspect a sandbox', { sandbox: id, error })
    return []
  }
}

async function readHandlers({ runtime, signal, log }: EvidenceInput): Promise<readonly HandlerSetting[]> {
  try {
    const { info } = await runtime.status({ verbose: true }, { timeoutMs: callTimeoutMs, signal })
    return parseHandlerSettings(info.config ?? '') ?? []
  } catch (error) {
    log.debug('failed to inspect runtime handlers', { error })
    return []
  }
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

function holdsProcesses(cgroups: CgroupTree, path: string): boolean {
  if (!cgroups.exists(path)) return false
  if (cgroups.version === 'v2') return /^populated 1$/m.test(text(cgroups.read(path, 'cgroup.events')))
  return cgroups
    .walk(path, { maxCgroups })
    .some((below) => text(cgroups.read(below, 'cgroup.procs')).trim() !== '')
}
