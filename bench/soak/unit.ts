// `soak`: a node lives through thousands of pods and scrapes: the kubelet with the gate on, `keelson cri` between it and
// containerd, and the companion beside them. Heap, descriptors and memory of each must stay the same. As root.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeFlag } from '../../scripts/package/node-flag.js'
import { historyStepMs } from '../../src/serve/dashboard/history.js'
import { busybox, PodNode, startBetween, until } from '../../test/kubelet/node.js'
import { missingRequirement } from '../../test/support/requirements.js'
import { removePod, watchMarks, writePod } from '../kubelet/pods.js'
import { usageOf } from '../process-usage.js'
import { startCompanion } from '../scrape/watched.js'
import type { BenchOptions, BenchReport, BenchUnit } from '../unit.js'
import { type Sample, soakRow, soakTargets } from './samples.js'

/** So many pods at once: more than the kubelet starts in parallel. */
const WAVE = 20
/** What the first pods fill is a cache, not a leak. */
const SAMPLES = 10
const WAVE_TIMEOUT_MS = 300_000
/** A sample closes the files of pods that are gone: those of scrapes do, and those of the dashboard's history, a minute apart. */
const SETTLE_MS = 10_000
const SETTLE_SCRAPES = historyStepMs / SETTLE_MS + 1
const endpoints = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary', '/metrics']

const options = {
  lives: 'N: pods in all (2000)',
  scrapes: 'N: in all (20000)',
  snapshots: 'DIRECTORY: a heap snapshot of each process with each sample, to compare where memory grows',
}

const log = (line: string): void => console.error(`soak: ${line}`)

/** What the descriptors of a process are open on. */
function openFiles(pid: number): readonly string[] {
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).flatMap((name) => {
    try {
      return [readlinkSync(join(directory, name))]
    } catch {
      return [] // closed meanwhile
    }
  })
}

async function measure(pid: number, lives: number, directory: string): Promise<Sample> {
  const file = join(directory, `${pid}.json`)
  process.kill(pid, 'SIGUSR2')
  await until(`the heap of process ${pid}`, () => existsSync(file), 60_000)
  const { heapUsed, external, code } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>
  await rm(file)
  return {
    lives,
    heapMiB: ((heapUsed ?? 0) + (external ?? 0)) / 2 ** 20,
    codeMiB: (code ?? 0) / 2 ** 20,
    descriptors: openFiles(pid).length,
    rssMiB: usageOf(pid).rssMiB,
  }
}

interface SoakNode {
  readonly processes: Readonly<Record<string, number>>
  runWave(wave: number): Promise<void>
  scrape(): Promise<void>
  /** Until what is only kept for pods that ran is gone. */
  settle(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

async function startNode(directory: string): Promise<SoakNode> {
  const node = await PodNode.create()
  const closers: (() => Promise<unknown>)[] = [() => node.close()]
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one()
  }
  try {
    const { server, endpoint } = await startBetween({ main: node.main }, node.containerd, node.directory)
    closers.push(() => server.end('SIGTERM'))
    await node.start([
      '--feature-gates=PodAndContainerStatsFromCRI=true',
      `--container-runtime-endpoint=${endpoint}`,
    ])
    const companion = await startCompanion(node.main, node.containerd.endpoint, node.cgroupRoot)
    closers.push(() => companion.close())
    const marksDirectory = join(directory, 'marks')
    const marks = await watchMarks(marksDirectory)
    closers.push(async () => marks.close())
    let scrapes = 0
    const scrapeKubelet = async (path: string): Promise<void> => {
      const { status } = await node.ask(path)
      if (status !== 200) throw new Error(`${path} answered ${status}`)
    }
    return {
      processes: { kubelet: node.pid, 'keelson cri': server.process.pid ?? 0, companion: companion.pid },
      async runWave(wave) {
        const names = Array.from({ length: WAVE }, (_, i) => `soak-${wave}-${i}`)
        for (const name of names)
          await writePod(node.manifests, { name, image: busybox, marks: marksDirectory })
        await marks.waitFor(names, WAVE_TIMEOUT_MS)
        for (const name of names) await removePod(node.manifests, name)
        const isEmpty = async (): Promise<boolean> => (await node.sandboxes()).length === 0
        await until('no sandbox is left', isEmpty, WAVE_TIMEOUT_MS, 500)
      },
      async scrape() {
        scrapes += 1
        if (scrapes % 5 === 0) return void (await companion.scrape())
        await scrapeKubelet(endpoints[scrapes % endpoints.length] ?? '/metrics')
      },
      async settle(signal) {
        for (let i = 0; i < SETTLE_SCRAPES; i++) {
          await sleep(SETTLE_MS, undefined, { signal })
          for (const path of endpoints) await scrapeKubelet(path)
          await companion.scrape()
        }
      },
      close,
    }
  } catch (e) {
    await close()
    throw e
  }
}

async function soak(directory: string, waves: number, scrapes: number, signal: AbortSignal) {
  const node = await startNode(directory)
  const samples = new Map<string, Sample[]>(Object.keys(node.processes).map((name) => [name, []]))
  const firstFiles = new Map<string, ReadonlySet<string>>()
  /** So that a leak has a name in the output. */
  const logNewFiles = (name: string, pid: number): void => {
    const files = openFiles(pid)
    const first = firstFiles.get(name)
    if (first === undefined) return void firstFiles.set(name, new Set(files))
    const added = files.filter((file) => !first.has(file) && file.startsWith('/'))
    if (added.length > 0) log(`${name} has files open that it had not at first: ${added.join(', ')}`)
  }
  const scrapeSome = async (count: number): Promise<void> => {
    for (let i = 0; i < count && !signal.aborted; i++) await node.scrape()
  }
  try {
    const began = performance.now()
    for (let wave = 0; wave < waves; wave++) {
      signal.throwIfAborted()
      await Promise.all([node.runWave(wave), scrapeSome(Math.ceil(scrapes / waves))])
      const isDue = Math.floor((wave * SAMPLES) / waves) !== Math.floor(((wave + 1) * SAMPLES) / waves)
      if (!isDue) continue
      await node.settle(signal)
      const lives = (wave + 1) * WAVE
      const minutes = ((performance.now() - began) / 60_000).toFixed(1)
      for (const [name, pid] of Object.entries(node.processes)) {
        const sample = await measure(pid, lives, directory)
        samples.get(name)?.push(sample)
        const { heapMiB, descriptors, rssMiB } = sample
        log(
          `${lives} pods after ${minutes} min: ${name} has ${heapMiB.toFixed(1)} MiB of heap, ${descriptors} descriptors, ${rssMiB.toFixed(0)} MiB`,
        )
        logNewFiles(name, pid)
      }
    }
    return { samples, minutes: (performance.now() - began) / 60_000 }
  } finally {
    await node.close()
  }
}

async function run(signal: AbortSignal, given: BenchOptions): Promise<BenchReport> {
  const missing = missingRequirement({ root: true, packages: ['containerd'] })
  if (missing !== undefined) throw new Error(missing)
  const waves = Math.max(SAMPLES, Math.ceil(Number(given['lives'] ?? 2000) / WAVE))
  const scrapes = Number(given['scrapes'] ?? 20_000)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-soak-'))
  const before = { ...process.env }
  process.env.SOAK_DIRECTORY = directory
  process.env.SOAK_SNAPSHOTS = given['snapshots'] ?? ''
  process.env.NODE_OPTIONS = `${nodeFlag} --import=${join(import.meta.dirname, 'collect-on-signal.mjs')}`
  try {
    const { samples, minutes } = await soak(directory, waves, scrapes, signal)
    const all = [...samples]
    return {
      file: 'soak',
      title: 'Thousands of pods and scrapes',
      method: `${waves * WAVE} pods, ${WAVE} at a time, each from manifest to running to removed, and ${scrapes} scrapes of the kubelet and the companion in ${minutes.toFixed(0)} minutes: the kubelet with the gate PodAndContainerStatsFromCRI on, \`keelson cri\` between it and containerd 1.6, the companion beside them. ${SAMPLES} times, with no pod on the node, the heap of each process is collected through the inspector; heap is with the buffers outside of it. The first sample is after a tenth of the pods. The slope is of the line through the resident memory at all samples, for 1,000 pods.`,
      columns: ['process', 'heap', 'of it compiled code', 'descriptors', 'resident', 'slope per 1,000 pods'],
      rows: all.map(([name, one]) => soakRow(name, one)),
      targets: all.flatMap(([name, one]) => soakTargets(name, one)),
    }
  } finally {
    process.env.NODE_OPTIONS = before.NODE_OPTIONS ?? ''
    process.env.SOAK_SNAPSHOTS = ''
    await rm(directory, { recursive: true, force: true })
  }
}

export const soakUnit: BenchUnit = {
  name: 'soak',
  summary:
    '2,000 pods and 20,000 scrapes: heap, descriptors and memory of kubelet, cri and companion (root; 60 minutes)',
  options,
  run,
}
