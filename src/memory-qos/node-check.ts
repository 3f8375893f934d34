// Findings that need the tree besides the plan: sums against the capacity, parents of kubepods and reserved cgroups, a protection that
// leaves the page cache no room.
import { readCountOrMax } from '../core/cgroup/control-file.js'
import { parentPath } from '../core/cgroup/path.js'
import { createFlatKeyedParser } from '../core/kernel-text/flat-keyed.js'
import {
  type Finding,
  minNearMax,
  nodeFindings,
  reservedMissing,
  unprotectedParent,
} from '../core/memory-qos/findings.js'
import { protectedBytes, type TargetsInput } from '../core/memory-qos/targets.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { PassReport } from './engine.js'
import type { Observation } from './observe-pods.js'

const cacheOf = createFlatKeyedParser(['file'])

const unlimited = 2n ** 63n
const amountOf = (text: string): bigint => (text === 'max' ? unlimited : BigInt(text))

export class NodeCheck {
  private caches = new Map<CgroupPath, bigint>()

  constructor(
    private readonly cgroups: Pick<CgroupTree, 'read' | 'controllers'>,
    private readonly kernelMessage: string | undefined,
  ) {}

  findings(input: TargetsInput, report: PassReport): readonly Finding[] {
    return [
      ...nodeFindings({
        memoryQos: input.memoryQos,
        controllers: this.cgroups.controllers('/') ?? [],
        kernelMessage: this.kernelMessage,
        protectedBytes: protectedBytes(report.plan),
        memoryCapacity: input.node.memoryCapacity,
      }),
      ...this.missing(input, report),
      ...report.observed.flatMap((o) => this.parents(o)),
      ...this.tight(report.observed),
    ]
  }

  /** The administrator makes these, and a kubelet does not start without; a companion can only say so. */
  private missing({ memoryQos }: TargetsInput, { observed, plan }: PassReport): readonly Finding[] {
    if (!memoryQos.enabled) return []
    const present = new Set(observed.map((o) => o.path))
    return plan.targets
      .filter((t) => t.level === 'reserved' && !present.has(t.path))
      .map((t) => reservedMissing(t.path, t.title))
  }

  /** kubepods below a cgroupRoot, reserved cgroups anywhere: above them only the administrator sets values. */
  private parents({ path, files, target: { level } }: Observation): readonly Finding[] {
    if (level !== 'kubepods' && level !== 'reserved') return []
    const own = amountOf(files['memory.min'] ?? '0')
    if (own === 0n) return []
    for (let at = parentPath(path); at !== undefined && at !== '/'; at = parentPath(at)) {
      const has = readCountOrMax(this.cgroups, at, 'memory.min') ?? 0n
      if (has !== 'max' && has < own) return [unprotectedParent(level, path, at)]
    }
    return []
  }

  private tight(observed: readonly Observation[]): readonly Finding[] {
    const next = new Map<CgroupPath, bigint>()
    const found = observed.flatMap((o) => {
      const min = o.files['memory.min']
      if (o.max === undefined || o.max === 'max' || min === undefined || min === '0') return []
      const stat = this.cgroups.read(o.path, 'memory.stat')
      const cache = stat === undefined ? undefined : cacheOf(stat).file
      if (cache === undefined) return []
      next.set(o.path, cache)
      const cacheBefore = this.caches.get(o.path)
      const finding = minNearMax({ path: o.path, min: BigInt(min), max: BigInt(o.max), cache, cacheBefore })
      return finding === undefined ? [] : [finding]
    })
    this.caches = next
    return found
  }
}
