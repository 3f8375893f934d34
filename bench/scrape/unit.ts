// `scrape`: /metrics/cadvisor of 110 and 500 pods with two containers each, on real cgroups: the sweep against a C loop
// that does the same reads, the answer's time, and memory over a thousand scrapes. As root; leaves no cgroup behind.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { type Hierarchy, hierarchyOf } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createCgroupLocator } from '../../src/stats/cgroup-locator.js'
import { cgroupMetrics } from '../../src/stats/cgroup-metrics.js'
import { type CgroupSource, type CgroupSweep, createCgroupSource } from '../../src/stats/cgroup-source.js'
import { createDevices } from '../../src/stats/collectors/device.js'
import { createHugePageSizes } from '../../src/stats/collectors/hugetlb.js'
import { createExposition } from '../../src/stats/exposition.js'
import { buildInventory, type Inventory } from '../../src/stats/inventory.js'
import { createRows } from '../../src/stats/row.js'
import { decideSwitches } from '../../src/stats/row-writer.js'
import { type CpuClock, createCpuClock } from '../cgroup-sweep/cpu-clock.js'
import { compileSweep, LineProcess } from '../cgroup-sweep/floor.js'
import { raiseDescriptorLimit } from '../descriptor-limit.js'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'
import { benchPods, listingRuntime, makeCgroups } from './node.js'

const SMALL = 110
const LARGE = 500
/** Files that a sweep keeps open for a pod: two containers, the pod's own cgroup and the sandbox. */
const FILES_A_POD = 66
const RUNS = 20
const SCRAPES = 1_000
const MAX_RATIO = 2
const MAX_GROWTH = 1.15
const MAX_P99_MS = 100
const MAX_RSS_MIB = 10
const COLD_BYTES = 64 << 20
const MAX_DESCRIPTORS = 40_000

interface Measured {
  readonly pods: number
  readonly reads: number
  readonly sweepMs: number
  readonly floorMs: number
  readonly fullSweepMs: number
  readonly encodeMs: number
  readonly p99Ms: number
  readonly bytes: number
  readonly series: number
  readonly rssGrowthMiB: number
}

interface Bench {
  readonly hierarchy: Hierarchy
  readonly binary: string
  readonly base: string
  readonly clock: CpuClock
  readonly signal: AbortSignal
}

/** Without /proc only cgroup files are read: that is what the C loop does too. */
function createSource(tree: CgroupFsTree, base: string, withProc: boolean): CgroupSource {
  const procfs = createProcfs()
  const nothing = { openFiles: () => undefined, processLimits: () => undefined }
  return createCgroupSource({
    context: {
      cgroups: tree,
      procfs: withProc ? procfs : nothing,
      device: createDevices((numbers) => procfs.deviceName(numbers)),
      hugePageSizes: createHugePageSizes({ cgroups: tree }),
    },
    procfs: withProc ? procfs : { netDev: () => undefined, networkNamespace: () => undefined },
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
  const source = createSource(noting, b.base, false)
  await source.sweep(inventory, b.signal)
  found.length = 0
  await source.sweep(inventory, b.signal)
  tree.close()
  return found
}

async function measureSweep(b: Bench, inventory: Inventory) {
  const files = await filesOf(b, inventory)
  const tree = new CgroupFsTree(b.hierarchy, { maxDescriptors: MAX_DESCRIPTORS })
  const floor = new LineProcess(b.binary, ['read', b.clock.isFine ? '1' : '0'])
  const evict = Buffer.alloc(COLD_BYTES)
  const ours: number[] = []
  const full: number[] = []
  const theirs: number[] = []
  let last: CgroupSweep | undefined
  try {
    floor.send(`${files.length}\n${files.join('\n')}\n`)
    await floor.next()
    const source = createSource(tree, b.base, false)
    const withProc = createSource(tree, b.base, true)
    for (let i = 0; i < 5; i++) await source.sweep(inventory, b.signal)
    for (let run = 0; run < RUNS; run++) {
      b.signal.throwIfAborted()
      floor.send('1\n')
      theirs.push(Number(await floor.next()))
      evict.fill(run & 255)
      const start = b.clock.now()
      await source.sweep(inventory, b.signal)
      ours.push(b.clock.now() - start)
      const before = b.clock.now()
      last = await withProc.sweep(inventory, b.signal)
      full.push(b.clock.now() - before)
    }
  } finally {
    await floor.end()
    tree.close()
  }
  if (last === undefined || last.stats.missing > 0) throw new Error(`${last?.stats.missing} are missing`)
  return {
    sweep: last,
    reads: files.length,
    sweepMs: median(ours) / 1e6,
    floorMs: median(theirs) / 1e6,
    fullSweepMs: median(full) / 1e6,
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Resident memory after a collection, so that only what is kept counts. */
function residentMiB(): number {
  for (let i = 0; i < 3; i++) collect()
  return process.memoryUsage().rss / 2 ** 20
}

function measureScrapes(sweep: CgroupSweep) {
  const rows = createRows()
  const switches = decideSwitches()
  const encoder = new TextEncoder()
  const metrics = cgroupMetrics(sweep, { rows, switches, containerFs: () => undefined })
  const times: number[] = []
  let bytes = 0
  let series = 0
  let at200 = 0
  for (let i = 0; i < SCRAPES; i++) {
    const start = performance.now()
    const into = createExposition()
    metrics.write(into)
    rows.sweep()
    const text = into.text()
    bytes = encoder.encode(text).length
    times.push(performance.now() - start)
    if (i === 0) series = text.split('\n').filter((l) => l !== '' && !l.startsWith('#')).length
    if (i === 200) at200 = residentMiB()
  }
  const sorted = times.slice(50).sort((a, b) => a - b)
  return {
    bytes,
    series,
    encodeMs: median(times.slice(50)),
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    rssGrowthMiB: residentMiB() - at200,
  }
}

async function measure(b: Bench, count: number): Promise<Measured> {
  const { runtime } = listingRuntime(benchPods(count))
  const [{ items }, { containers }] = await Promise.all([
    runtime.listPodSandbox({}),
    runtime.listContainers({}),
  ])
  const { sweep, ...swept } = await measureSweep(b, buildInventory(items, containers, 1n))
  return { pods: count, ...swept, ...measureScrapes(sweep) }
}

function report(version: string, results: readonly Measured[]): BenchReport {
  const [small, large] = results
  if (small === undefined || large === undefined) throw new Error('two sizes are compared')
  const growth = large.sweepMs / large.pods / (small.sweepMs / small.pods)
  return {
    file: 'scrape',
    title: `Scrape of /metrics/cadvisor, cgroup ${version}`,
    method: `Pods with two containers and a sandbox, one sleeping process in each cgroup. "sweep" is the CPU time of one pass of the collectors over cgroup files (user and system, caches emptied, median of ${RUNS} alternating runs), "C" the same reads with kept descriptors and no parsing; "with /proc" adds descriptors, sockets, limits and interfaces. "encode" is the wall time to print and encode one sample; answers are shared, so a scrape costs it at most once for each sample.${large.pods < LARGE ? ` This machine allows too few open files for ${LARGE} pods.` : ''}`,
    columns: [
      'pods',
      'reads',
      'sweep ms',
      'C ms',
      'ratio',
      'with /proc ms',
      'series',
      'MiB',
      'encode ms',
      'p99 ms',
      'RSS growth MiB',
    ],
    rows: results.map((r) => [
      String(r.pods),
      String(r.reads),
      r.sweepMs.toFixed(2),
      r.floorMs.toFixed(2),
      (r.sweepMs / r.floorMs).toFixed(2),
      r.fullSweepMs.toFixed(2),
      String(r.series),
      (r.bytes / 2 ** 20).toFixed(2),
      r.encodeMs.toFixed(1),
      r.p99Ms.toFixed(1),
      r.rssGrowthMiB.toFixed(1),
    ]),
    targets: [
      ...results.map((r) => atMost(`sweep against C at ${r.pods} pods`, r.sweepMs / r.floorMs, MAX_RATIO)),
      atMost(`sweep per pod, ${large.pods} against ${small.pods}`, growth, MAX_GROWTH),
      {
        name: '/metrics/cadvisor p99 at 110 pods',
        measured: `${small.p99Ms.toFixed(1)} ms`,
        limit: `<= ${MAX_P99_MS} ms`,
        met: small.p99Ms <= MAX_P99_MS,
      },
      ...results.map((r) => ({
        name: `resident growth, scrape 200 to 1,000 at ${r.pods} pods`,
        measured: `${r.rssGrowthMiB.toFixed(1)} MiB`,
        limit: `< ${MAX_RSS_MIB} MiB`,
        met: r.rssGrowthMiB < MAX_RSS_MIB,
      })),
    ],
  }
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const hierarchy = hierarchyOf(readCgroupLayout())
  const mayOpen = raiseDescriptorLimit(MAX_DESCRIPTORS)
  const sizes = [SMALL, Math.min(LARGE, Math.floor((mayOpen - 1_000) / FILES_A_POD))]
  const tree = new CgroupFsTree(hierarchy)
  const base = `/keelson-scrape-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'keelson-scrape-'))
  let holder: LineProcess | undefined
  try {
    const binary = compileSweep(folder)
    holder = new LineProcess(binary, ['hold'])
    const results: Measured[] = []
    let made = 0
    for (const count of sizes) {
      await makeCgroups({ tree, hierarchy, holder, base }, benchPods(count).slice(made), signal)
      made = count
      results.push(await measure({ hierarchy, binary, base, clock: createCpuClock(), signal }, count))
    }
    return report(hierarchy.version, results)
  } finally {
    await holder?.end()
    await tree.remove(base, { timeoutMs: 60_000 })
    rmSync(folder, { recursive: true, force: true })
  }
}

export const scrape: BenchUnit = {
  name: 'scrape',
  summary: 'sweep and text of /metrics/cadvisor at 110 and 500 pods, against a C loop (root)',
  run,
}
