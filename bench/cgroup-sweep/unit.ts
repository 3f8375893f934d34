// `cgroup-sweep`: one pass over eleven files of many cgroups, read and parsed by our adapter, against a C loop that does the
// same reads and nothing else. Both keep their descriptors. Works on v1 and on v2, as root; leaves no cgroup behind.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { type Hierarchy, hierarchyOf } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { parseMaxOpenFiles } from '../../src/core/kernel-text/proc-limits.js'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'
import { type CpuClock, createCpuClock } from './cpu-clock.js'
import { filesV1, filesV2, type SweptFile } from './files.js'
import { compileSweep, LineProcess } from './floor.js'

const SIZES = [110, 330, 1_000]
const LARGEST = Math.max(...SIZES)
const RUNS = 20
const WARM_UP = 5
const MAX_RATIO = 2
const MAX_GROWTH = 1.15
/** More than the last-level cache that one processor usually sees. */
const COLD_BYTES = 64 << 20

/** Both sides keep every file open. Root may raise its own limit. */
function raiseDescriptorLimit(needed: number): void {
  const limit = parseMaxOpenFiles(readFileSync('/proc/self/limits', 'utf8'))
  if (limit === undefined || limit === 'unlimited' || limit >= BigInt(needed)) return
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${needed}:${needed}`], {
    stdio: 'inherit',
  })
}

/** Reads and parses every file of every cgroup. Answers how many values there were, so that nothing can be left out. */
function sweep(
  tree: CgroupFsTree,
  paths: readonly string[],
  files: readonly SweptFile[],
  kept: unknown[],
): number {
  let values = 0
  for (const path of paths)
    for (let j = 0; j < files.length; j++) {
      const [file, parse] = files[j] as SweptFile
      const text = tree.read(path, file)
      if (text === undefined) continue
      kept[j] = parse(text)
      if (kept[j] !== undefined) values++
    }
  return values
}

interface Measured {
  readonly size: number
  readonly ours: number
  readonly floor: number
}

interface Subject {
  readonly hierarchy: Hierarchy
  readonly binary: string
  readonly clock: CpuClock
  readonly signal: AbortSignal
}

/** Two readers of the same files, each with its own descriptors, taking turns. */
async function measure(
  { hierarchy, binary, clock, signal }: Subject,
  paths: readonly string[],
): Promise<Measured> {
  const files = hierarchy.version === 'v2' ? filesV2 : filesV1
  const tree = new CgroupFsTree(hierarchy, { maxDescriptors: paths.length * files.length })
  const floor = new LineProcess(binary, ['read', clock.isFine ? '1' : '0'])
  const evict = Buffer.alloc(clock.isFine ? COLD_BYTES : 0)
  const sweeps = clock.isFine ? 1 : Math.ceil(LARGEST / paths.length)
  const kept = new Array<unknown>(files.length)
  const ours: number[] = []
  const theirs: number[] = []
  try {
    const targets = paths.flatMap((path) => files.map(([file]) => hierarchy.file(path, file) ?? ''))
    floor.send(`${targets.length}\n${targets.join('\n')}\n`)
    await floor.next()
    // The same number of reads for every size, so that each is measured with the compiler at rest.
    for (let read = 0; read < WARM_UP * LARGEST; read += paths.length) sweep(tree, paths, files, kept)
    for (let run = 0; run < RUNS; run++) {
      signal.throwIfAborted()
      floor.send(`${sweeps}\n`)
      theirs.push(Number(await floor.next()) / sweeps)
      evict.fill(run & 255)
      const start = clock.now()
      let values = 0
      for (let i = 0; i < sweeps; i++) values += sweep(tree, paths, files, kept)
      ours.push((clock.now() - start) / sweeps)
      if (values !== sweeps * paths.length * files.length)
        throw new Error(`${values} values of ${paths.length} cgroups in ${sweeps} sweeps: files are missing`)
    }
  } finally {
    await floor.end()
    tree.close()
  }
  return { size: paths.length, ours: median(ours), floor: median(theirs) }
}

function report(version: 'v1' | 'v2', clock: CpuClock, results: readonly Measured[]): BenchReport {
  const perCgroup = results.map((r) => r.ours / r.size)
  const micros = (nanos: number): string => (nanos / 1_000).toFixed(1)
  const care = clock.isFine
    ? 'Before each sweep the processor caches are emptied on both sides: a sampler that comes every ten seconds finds them so.'
    : 'The CPU clock of this kernel has coarse steps, so a run of a small size is several sweeps.'
  return {
    file: version === 'v2' ? 'cgroup-sweep-v2' : 'cgroup-sweep',
    title: `Cgroup sweep, cgroup ${version}`,
    method:
      `One sweep reads ${filesV2.length} files of every cgroup, each with one sleeping process. Ours: kept descriptors, ` +
      'every value parsed to bigint. C: kept descriptors, `pread` into one buffer, no parsing. CPU time (user and system) of one ' +
      `sweep, median of ${RUNS} alternating runs in one go. ${care}`,
    columns: ['cgroups', 'ours ms', 'C ms', 'ours us/cgroup', 'C us/cgroup', 'ratio'],
    rows: results.map((r) => [
      String(r.size),
      (r.ours / 1e6).toFixed(2),
      (r.floor / 1e6).toFixed(2),
      micros(r.ours / r.size),
      micros(r.floor / r.size),
      (r.ours / r.floor).toFixed(2),
    ]),
    targets: [
      ...results.map((r) => atMost(`ours against C at ${r.size}`, r.ours / r.floor, MAX_RATIO)),
      atMost(
        'dearest against cheapest size, per cgroup',
        Math.max(...perCgroup) / Math.min(...perCgroup),
        MAX_GROWTH,
      ),
    ],
  }
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const hierarchy = hierarchyOf(readCgroupLayout())
  raiseDescriptorLimit(LARGEST * filesV2.length + 1_000)
  const tree = new CgroupFsTree(hierarchy)
  const base = `/keelson-bench-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  const clock = createCpuClock()
  const procs = (path: string): string =>
    hierarchy.roots.map((root) => `${root}${path}/cgroup.procs`).join(' ')
  let holder: LineProcess | undefined
  try {
    const binary = compileSweep(folder)
    holder = new LineProcess(binary, ['hold'])
    const paths: string[] = []
    const results: Measured[] = []
    for (const size of SIZES) {
      const more = Array.from({ length: size - paths.length }, (_, i) => `${base}/c${paths.length + i}`)
      for (const path of more) await tree.ensure(path, { signal })
      holder.send(`${more.map(procs).join('\n')}\n\n`)
      await holder.next()
      paths.push(...more)
      results.push(await measure({ hierarchy, binary, clock, signal }, paths))
    }
    return report(hierarchy.version, clock, results)
  } finally {
    await holder?.end()
    await tree.remove(base, { timeoutMs: 30_000 })
    rmSync(folder, { recursive: true, force: true })
  }
}

export const cgroupSweep: BenchUnit = {
  name: 'cgroup-sweep',
  summary: 'eleven files of 110, 330 and 1,000 cgroups, ours with parsing against a C loop (root)',
  run,
}
