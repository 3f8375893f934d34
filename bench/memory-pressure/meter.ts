// Reads what a workload kept, did and suffered between two moments: counters as differences, shares as means of many looks.
import { readFileSync } from 'node:fs'
import { parseFlatKeyed } from '../../src/core/kernel-text/flat-keyed.js'
import { type Pressure, parsePressure } from '../../src/core/kernel-text/pressure.js'
import type { CgroupTree } from '../../src/ports/cgroups.js'
import type { Stall, Workload, WorkloadResult } from './scene.js'

const MiB = 1024 * 1024

/** `some` and `full` as differences, avg10 as the mean of what the looks saw. */
class StallMeter {
  private readonly first: Pressure | undefined
  private sum = 0
  private looks = 0

  constructor(private readonly read: () => Uint8Array | undefined) {
    this.first = this.now()
  }

  private now(): Pressure | undefined {
    const text = this.read()
    return text === undefined ? undefined : parsePressure(text)
  }

  look(): void {
    this.sum += this.now()?.some.avg10 ?? 0
    this.looks++
  }

  result(): { readonly stall?: Stall } {
    const [a, b] = [this.first, this.now()]
    if (a === undefined || b === undefined) return {}
    const seconds = (from: bigint | undefined, to: bigint | undefined): number =>
      Number((to ?? 0n) - (from ?? 0n)) / 1e6
    return {
      stall: {
        someS: seconds(a.some.totalMicros, b.some.totalMicros),
        fullS: seconds(a.full?.totalMicros, b.full?.totalMicros),
        avg10: this.sum / Math.max(1, this.looks),
      },
    }
  }
}

/** The whole machine's. A kernel without PSI has no such file. */
export const nodeMeter = (): StallMeter =>
  new StallMeter(() => {
    try {
      return readFileSync('/proc/pressure/memory')
    } catch {
      return undefined
    }
  })

export class WorkloadMeter {
  private readonly passesBefore: number
  private readonly throttledBefore: number
  private readonly stall: StallMeter
  private kept = 0
  private looks = 0

  constructor(
    private readonly tree: CgroupTree,
    private readonly workload: Workload,
    private readonly path: string,
    private readonly passes: () => number,
  ) {
    this.passesBefore = passes()
    this.throttledBefore = this.count('memory.events', 'high')
    this.stall = new StallMeter(() => tree.read(path, 'memory.pressure'))
  }

  private count(file: string, key: string): number {
    return Number(parseFlatKeyed(this.tree.read(this.path, file) ?? new Uint8Array()).get(key) ?? 0n)
  }

  look(): void {
    const { MiB: wanted, kind } = this.workload
    const share = this.count('memory.stat', kind) / (wanted * MiB)
    this.kept += Math.min(1, share)
    this.looks++
    this.stall.look()
  }

  result(): WorkloadResult {
    return {
      name: this.workload.name,
      keptShare: this.kept / Math.max(1, this.looks),
      passes: this.passes() - this.passesBefore,
      throttled: this.count('memory.events', 'high') - this.throttledBefore,
      oomKills: this.count('memory.events', 'oom_kill'),
      ...this.stall.result(),
    }
  }
}
