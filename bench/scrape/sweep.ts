// One pass of the collectors over the cgroup files of many pods, against a C loop that does the same reads with kept
// descriptors and no parsing. Works on v1 and on v2, as root; leaves no cgroup behind.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { type Hierarchy, hierarchyOf } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createCgroupLocator } from '../../src/stats/cgroup/locator.js'
import { type CgroupSource, createCgroupSource } from '../../src/stats/cgroup/source.js'
import { createDevices } from '../../src/stats/collectors/device.js'
import { createHugePageSizes } from '../../src/stats/collectors/hugetlb.js'
import { buildInventory, type Inventory } from '../../src/stats/runtime/inventory.js'
import { type CpuClock, createCpuClock } from '../cgroup-sweep/cpu-clock.js'
import { compileSweep, LineProcess } from '../cgroup-sweep/floor.js'
import { raiseDescriptorLimit } from '../descriptor-limit.js'
import { median } from '../unit.js'
import { benchPods, listed, makeCgroups } from './node.js'

const RUNS = 20
/** A sampler's first quarter of an hour: V8 has compiled the loop by then. In a machine, whose clock is coarse, five long runs. */
const WARM_SWEEPS = 100
const COLD_BYTES = 64 << 20
const MAX_DESCRIPTORS = 40_000
/** Files that a sweep keeps open for a pod: two containers, the pod's own cgroup and the sandbox. */
const FILES_A_POD = 66

export interface SweepResult {
  readonly pods: number
  readonly reads: number
  readonly oursMs: number
  readonly floorMs: number
}

interface Bench {
  readonly hierarchy: Hierarchy
  readonly binary: string
  readonly base: string
  readonly clock: CpuClock
  readonly signal: AbortSignal
}

/** Pods whose files one process may keep open here: a loop that opens them again in every sweep measures something else. */
export const podsThatFit = (): number =>
  Math.floor((raiseDescriptorLimit(MAX_DESCRIPTORS) - 1_000) / FILES_A_POD)

/** Without /proc only cgroup files are read: that is what the C loop does too. */
function createSource(tree: CgroupFsTree, base: string): CgroupSource {
  const procfs = createProcfs()
  return createCgroupSource({
    context: {
      cgroups: tree,
      procfs: { openFiles: () => undefined, maxOpenFiles: () => undefined },
      device: createDevices((numbers) => procfs.deviceName(numbers)),
      hugePageSizes: createHugePageSizes({ cgroups: tree }),
    },
    procfs: { netDev: () => undefined, networkNamespace: () => undefined },
    locator: createCgroupLocator({ cgroups: tree, podRoots: [base] }),
    nowNanos: () => BigInt(Date.now()) * 1_000_000n,
    isOpaque: () => false,
    runtimeUsage: () => undefined,
  })
}

/** The files that one sweep found, in its order. */
async function filesOf(b: Bench, inventory: Inventory): Promise<string[]> {
  const tree = new CgroupFsTree(b.hierarchy, { maxDescriptors: MAX_DESCRIPTORS })
  const found: string[] = []
  const noting: CgroupFsTree = Object.create(tree, {
    read: {
      value: (path: string, file: string) => {
        const text = tree.read(path, file)
        if (text !== undefined) found.push(b.hierarchy.file(path, file) ?? '')
        return text
      },
    },
  }) as CgroupFsTree
  const source = createSource(noting, b.base)
  await source.sweep(inventory, b.signal)
  found.length = 0
  await source.sweep(inventory, b.signal)
  tree.close()
  return found
}

async function measure(b: Bench, count: number): Promise<SweepResult> {
  const { items, containers } = listed(benchPods(count))
  const inventory = buildInventory(items, containers, 1n)
  const files = await filesOf(b, inventory)
  const tree = new CgroupFsTree(b.hierarchy, { maxDescriptors: MAX_DESCRIPTORS })
  const floor = new LineProcess(b.binary, ['read', b.clock.isFine ? '1' : '0'])
  const evict = Buffer.alloc(b.clock.isFine ? COLD_BYTES : 0)
  // A coarse clock needs runs that are long beside its steps.
  const sweeps = b.clock.isFine ? 1 : Math.max(1, Math.round(500 / count))
  const ours: number[] = []
  const theirs: number[] = []
  try {
    floor.send(`${files.length}\n${files.join('\n')}\n`)
    await floor.next()
    const source = createSource(tree, b.base)
    const warm = b.clock.isFine ? WARM_SWEEPS : 5 * sweeps
    for (let i = 0; i < warm; i++) await source.sweep(inventory, b.signal)
    for (let run = 0; run < (b.clock.isFine ? RUNS : RUNS / 2); run++) {
      b.signal.throwIfAborted()
      floor.send(`${sweeps}\n`)
      theirs.push(Number(await floor.next()) / sweeps)
      evict.fill(run & 255)
      const start = b.clock.now()
      for (let i = 0; i < sweeps; i++) {
        const { stats } = await source.sweep(inventory, b.signal)
        if (stats.missing > 0) throw new Error(`${stats.missing} containers are missing`)
      }
      ours.push((b.clock.now() - start) / sweeps)
    }
  } finally {
    await floor.end()
    tree.close()
  }
  return { pods: count, reads: files.length, oursMs: median(ours) / 1e6, floorMs: median(theirs) / 1e6 }
}

/** Makes the pods of each size on top of the size before, and measures. */
export async function measureSweeps(sizes: readonly number[], signal: AbortSignal): Promise<SweepResult[]> {
  const hierarchy = hierarchyOf(readCgroupLayout())
  const tree = new CgroupFsTree(hierarchy)
  const base = `/keelson-sweep-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'keelson-sweep-'))
  let holder: LineProcess | undefined
  try {
    const binary = compileSweep(folder)
    holder = new LineProcess(binary, ['hold'])
    const results: SweepResult[] = []
    let made = 0
    for (const count of sizes) {
      await makeCgroups({ tree, hierarchy, holder, base }, benchPods(count).slice(made), signal)
      made = count
      results.push(await measure({ hierarchy, binary, base, clock: createCpuClock(), signal }, count))
    }
    return results
  } finally {
    await holder?.end()
    await tree.remove(base, { timeoutMs: 60_000 })
    rmSync(folder, { recursive: true, force: true })
  }
}
