// `cgroup-sweep`: one pass over eleven files of many cgroups, read and parsed by our adapter, against a C loop that does the
// same reads and nothing else. Both keep their descriptors. Works on v1 and on v2, as root; leaves no cgroup behind.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { hierarchyOf } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { parseProcessLimits } from '../../src/core/kernel-text/proc-limits.js'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'
import { filesV1, filesV2, type SweptFile } from './files.js'
import { compileSweep, LineProcess } from './floor.js'

const SIZES = [110, 330, 1_000]
const LARGEST = Math.max(...SIZES)
const RUNS = 20
const WARM_UP = 5
const MAX_RATIO = 2
const MAX_GROWTH = 1.15

/** Both sides keep every file open. Root may raise its own limit. */
function raiseDescriptorLimit(needed: number): void {
  const limit = parseProcessLimits(readFileSync('/proc/self/limits', 'utf8')).get('Max open files')?.soft
  if (limit === undefined || limit === 'unlimited' || limit >= BigInt(needed)) return
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${needed}:${needed}`], {
    stdio: 'inherit',
  })
}

interface Subject {
  readonly tree: CgroupFsTree
  readonly paths: readonly string[]
  readonly files: readonly SweptFile[]
  /** Answers how many values were read, so that nothing can be left out. */
  sweep(first: number, count: number): number
}

function createSubject(tree: CgroupFsTree, paths: readonly string[]): Subject {
  const files = tree.version === 'v2' ? filesV2 : filesV1
  const kept = new Array<unknown>(files.length)
  const sweep = (first: number, count: number): number => {
    let values = 0
    for (let i = 0; i < count; i++) {
      const path = paths[(first + i) % paths.length] as string
      for (let j = 0; j < files.length; j++) {
        const [file, parse] = files[j] as SweptFile
        const text = tree.read(path, file)
        if (text === undefined) continue
        kept[j] = parse(text)
        if (kept[j] !== undefined) values++
      }
    }
    return values
  }
  return { tree, paths, files, sweep }
}

const cpuNanos = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1_000
}

interface Measured {
  readonly size: number
  readonly ours: number
  readonly floor: number
  readonly ratio: number
}

async function measure(
  subject: Subject,
  floor: LineProcess,
  size: number,
  signal: AbortSignal,
): Promise<Measured> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let run = -WARM_UP; run < RUNS; run++) {
    signal.throwIfAborted()
    // The next ones each time: else a small set would sit in the processor's caches, and no sampler finds it there.
    const first = ((run + WARM_UP) * size) % LARGEST
    floor.send(`${first} ${size}\n`)
    const floorNanos = Number(await floor.next())
    const start = cpuNanos()
    const values = subject.sweep(first, size)
    const ourNanos = cpuNanos() - start
    if (values !== size * subject.files.length)
      throw new Error(`${values} values of ${size} cgroups: files are missing`)
    if (run < 0) continue
    ours.push(ourNanos)
    theirs.push(floorNanos)
  }
  const medianOurs = median(ours)
  const medianFloor = median(theirs)
  return { size, ours: medianOurs, floor: medianFloor, ratio: medianOurs / medianFloor }
}

function report(version: 'v1' | 'v2', results: readonly Measured[]): BenchReport {
  const perCgroup = results.map((r) => r.ours / r.size)
  const micros = (nanos: number): string => (nanos / 1_000).toFixed(1)
  return {
    file: version === 'v2' ? 'cgroup-sweep-v2' : 'cgroup-sweep',
    title: `Cgroup sweep, cgroup ${version}`,
    method:
      `One sweep reads ${filesV2.length} files of every cgroup, each with one sleeping process. Ours: kept descriptors, ` +
      'every value parsed to bigint. C: kept descriptors, `pread` into one buffer, no parsing. CPU time (user and system) of one ' +
      `sweep, median of ${RUNS} alternating runs in one go. There are ${LARGEST} cgroups throughout and each run takes the next ones, ` +
      'so that the caches are equally cold for every size.',
    columns: ['cgroups', 'ours ms', 'C ms', 'ours us/cgroup', 'C us/cgroup', 'ratio'],
    rows: results.map((r) => [
      String(r.size),
      (r.ours / 1e6).toFixed(2),
      (r.floor / 1e6).toFixed(2),
      micros(r.ours / r.size),
      micros(r.floor / r.size),
      r.ratio.toFixed(2),
    ]),
    targets: [
      ...results.map((r) => atMost(`ours against C at ${r.size}`, r.ratio, MAX_RATIO)),
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
  const descriptors = LARGEST * filesV2.length
  raiseDescriptorLimit(descriptors + 1_000)
  const tree = new CgroupFsTree(hierarchy, { maxDescriptors: descriptors })
  const base = `/keelson-bench-${process.pid}`
  const paths = Array.from({ length: LARGEST }, (_, i) => `${base}/c${i}`)
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  const children: LineProcess[] = []
  try {
    const binary = compileSweep(folder)
    for (const path of paths) await tree.ensure(path, { signal })
    const holder = new LineProcess(binary, ['hold'])
    children.push(holder)
    const procs = (path: string): string =>
      hierarchy.roots.map((root) => `${root}${path}/cgroup.procs`).join(' ')
    holder.send(`${paths.map(procs).join('\n')}\n\n`)
    await holder.next()
    const subject = createSubject(tree, paths)
    const floor = new LineProcess(binary, ['read', String(subject.files.length)])
    children.push(floor)
    const targets = paths.flatMap((path) => subject.files.map(([file]) => hierarchy.file(path, file) ?? ''))
    floor.send(`${targets.length}\n${targets.join('\n')}\n`)
    await floor.next()
    const results: Measured[] = []
    for (const size of SIZES) results.push(await measure(subject, floor, size, signal))
    return report(tree.version, results)
  } finally {
    for (const child of children) await child.end()
    tree.close()
    await tree.remove(base, { timeoutMs: 30_000 })
    rmSync(folder, { recursive: true, force: true })
  }
}

export const cgroupSweep: BenchUnit = {
  name: 'cgroup-sweep',
  summary: 'eleven files of 110, 330 and 1,000 cgroups, ours with parsing against a C loop (root)',
  run,
}
