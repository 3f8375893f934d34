// cpu, limits, pids and hugetlb of the cgroups that the kubelet owns: written at creation and when the computed text
// changes, never because the file differs. Changes that others make in between are kept.
import { readControlText } from '../core/cgroup/control-file.js'
import { asKeelsonError } from '../core/errors.js'
import { isSettled } from '../core/kernel-text/read-back.js'
import { type Finding, writeFailed } from '../core/memory-qos/findings.js'
import type { MemoryTarget } from '../core/memory-qos/targets.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { Observation } from './observe-pods.js'

type Tree = Pick<CgroupTree, 'read' | 'apply'>

/** Start-up enforces these as they are; a pod's cgroup that is already there is taken over as it stands. */
const enforcedAtStart = (target: MemoryTarget): boolean => target.level !== 'pod'

export class OtherFiles {
  private readonly computed = new Map<CgroupPath, Map<string, string>>()
  private readonly fresh = new Set<CgroupPath>()

  constructor(private readonly cgroups: Tree) {}

  created(path: CgroupPath): void {
    this.fresh.add(path)
    this.computed.delete(path)
  }

  contents({ path, target }: Pick<Observation, 'path' | 'target'>): Readonly<Record<string, string>> {
    const now = Object.keys(target.others).map(
      (file) => [file, readControlText(this.cgroups, path, file)] as const,
    )
    return Object.fromEntries(now.flatMap(([file, text]) => (text === undefined ? [] : [[file, text]])))
  }

  async pass(
    observed: readonly Observation[],
    pageSize: bigint,
    signal: AbortSignal,
  ): Promise<{ readonly writes: number; readonly findings: readonly Finding[] }> {
    const findings: Finding[] = []
    let writes = 0
    for (const o of observed) {
      const due = this.due(o, pageSize)
      try {
        if (Object.keys(due).length > 0) await this.cgroups.apply(o.path, due, signal)
        writes += Object.keys(due).length
        this.fresh.delete(o.path)
        this.remember(o, due)
      } catch (e) {
        signal.throwIfAborted()
        const error = asKeelsonError(e)
        if (error.code !== 'cgroup.gone') findings.push(writeFailed(o.path, error.message))
      }
    }
    return { writes, findings }
  }

  private due(o: Observation, pageSize: bigint): Readonly<Record<string, string>> {
    const before = this.computed.get(o.path)
    const due: Record<string, string> = {}
    for (const [file, text] of Object.entries(o.target.others)) {
      const known = before?.get(file)
      if (known === text) continue
      if (known === undefined && !this.fresh.has(o.path) && !enforcedAtStart(o.target)) continue
      const now = readControlText(this.cgroups, o.path, file)
      // Not in this kernel, or the controller is off: the other files still count.
      if (now === undefined || isSettled(file, text, now, pageSize)) continue
      if (file === 'memory.max' && isBelowUsage(text, o.usage)) continue
      due[file] = text
    }
    return due
  }

  /** A limit that waits for usage to fall is not remembered, so the next pass looks again. */
  private remember(o: Observation, due: Readonly<Record<string, string>>): void {
    const files = this.computed.get(o.path) ?? new Map<string, string>()
    for (const [file, text] of Object.entries(o.target.others)) {
      const waits = file === 'memory.max' && due[file] === undefined && isBelowUsage(text, o.usage)
      if (!waits) files.set(file, text)
    }
    this.computed.set(o.path, files)
  }

  keep(present: ReadonlySet<CgroupPath>): void {
    for (const path of [...this.computed.keys()]) if (!present.has(path)) this.computed.delete(path)
    for (const path of [...this.fresh]) if (!present.has(path)) this.fresh.delete(path)
  }
}

/** The kernel answers a limit below usage with OOM kills. */
const isBelowUsage = (text: string, usage: bigint | undefined): boolean =>
  usage !== undefined && text !== 'max' && BigInt(text) < usage
