// `cri`: calls through the CRI server against the same calls made directly, in one run.
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { cacheDirectory } from '../../src/lab/cache.js'
import { startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { ensureImages } from '../../src/lab/images/images.js'
import { missingPackages } from '../../src/lab/packages.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { atMost, type BenchReport, type BenchTarget, type BenchUnit } from '../unit.js'
import { measurePair, type Pair } from './measure.js'
import { callers, measureMemory } from './memory.js'
import { fullNode, makePods, measurePodStats, removePods } from './pod-stats.js'
import { buildBundle, startScripted, startServer } from './processes.js'

/** Pairs of calls that count. */
const rounds = { small: 1500, list1000: 600, list10000: 80, stream: 15 }
const messages = 20_000
const maxAddedMs = 0.5
const maxListRatio = 1.5
const maxStreamRatio = 1.3
const maxStatsRatio = 0.1
const maxGrowthMiB = 64
const realContainers = 10

interface Both {
  readonly direct: CriClient
  readonly through: CriClient
}

const connectBoth = (upstream: string, server: string): Both => ({
  direct: createCriClient(upstream, { maxReceiveBytes: 64 * 1024 * 1024 }),
  through: createCriClient(server, { maxReceiveBytes: 64 * 1024 * 1024 }),
})

const added = (pair: Pair): BenchTarget => ({
  name: `${pair.name}, added p50`,
  measured: `${pair.addedMs.toFixed(2)} ms`,
  limit: `<= ${maxAddedMs} ms`,
  met: pair.addedMs <= maxAddedMs,
})

const ratio = (pair: Pair, limit: number): BenchTarget => atMost(`${pair.name}, p50 ratio`, pair.ratio, limit)

interface Real {
  readonly calls: readonly Pair[]
  /** Undefined, as the calls are none: this machine has no containerd. */
  readonly podStats: Pair | undefined
}

/** Pods of real containerd, with ten containers in all; then a full node. */
async function realCalls(signal: AbortSignal): Promise<Real> {
  if (process.getuid?.() !== 0 || missingPackages(['containerd', 'images']).length > 0)
    return { calls: [], podStats: undefined }
  const images = await ensureImages(cacheDirectory(process.env), signal)
  const containerd = await startPrivateContainerd({ archives: [images], signal })
  const server = await startServer(containerd.endpoint)
  const { direct, through } = connectBoth(containerd.endpoint, server.endpoint)
  try {
    await makePods(direct, 0, realContainers)
    const calls = [
      await measurePair(
        'Version, containerd',
        rounds.small,
        () => direct.runtime.version({}),
        () => through.runtime.version({}),
        signal,
      ),
      await measurePair(
        `ListContainers of ${realContainers}, containerd`,
        rounds.small,
        () => direct.runtime.listContainers({}),
        () => through.runtime.listContainers({}),
        signal,
      ),
    ]
    await makePods(direct, realContainers, fullNode)
    const podStats = await measurePodStats(direct, through, signal)
    await removePods(direct)
    return { calls, podStats }
  } finally {
    direct.close()
    through.close()
    await server.close()
    await containerd.close()
  }
}

async function readAll(client: CriClient): Promise<void> {
  let seen = 0
  for await (const _ of client.runtime.getContainerEvents({}, { timeoutMs: 60_000 })) seen += 1
  if (seen !== messages) throw new Error(`${seen} of ${messages} messages came`)
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  buildBundle()
  const { calls: small, podStats } = await realCalls(signal)
  const scripted = await startScripted(4 * rounds.stream, messages)
  const server = await startServer(scripted.endpoint)
  const { direct, through } = connectBoth(scripted.endpoint, server.endpoint)
  try {
    const version = await measurePair(
      'Version, scripted',
      rounds.small,
      () => direct.runtime.version({}),
      () => through.runtime.version({}),
      signal,
    )
    const list = (n: number, count: number): Promise<Pair> =>
      measurePair(
        `ListContainers of ${n}, scripted`,
        count,
        () => direct.runtime.listContainers({ filter: { id: String(n) } }),
        () => through.runtime.listContainers({ filter: { id: String(n) } }),
        signal,
      )
    const lists = [await list(1000, rounds.list1000), await list(10_000, rounds.list10000)]
    const stream = await measurePair(
      `stream of ${messages} messages`,
      rounds.stream,
      () => readAll(direct),
      () => readAll(through),
      signal,
    )
    const growth = await measureMemory(server, signal)
    const grown = growth.peakMiB - growth.beforeMiB
    const pairs = [...small, version, ...lists, stream, ...(podStats === undefined ? [] : [podStats])]
    return {
      file: 'cri',
      title: 'Calls through the CRI server',
      method:
        `The typed client, the server and the scripted runtime are three processes; calls alternate between directly and through the server. Each such pair has a difference and a ratio; "added" and "ratio" are the medians of these, and "middle half" is where half of the ratios lie (${rounds.small} pairs of small calls, ${rounds.list1000} and ${rounds.list10000} of the lists, ${rounds.stream} of the stream, after as many that do not count). ListPodSandboxStats: one container in each pod, calls more than a second apart, so that each is a new look at the cgroups. Memory: ` +
        `resident memory of the server while ${callers} ExecSync calls fetch 16 MiB each (${growth.fetchedMiB.toFixed(0)} MiB in all), ${callers} GetContainerEvents streams are open, and one reader has stopped reading.`,
      columns: ['call', 'direct p50 ms', 'through p50 ms', 'added ms', 'ratio', 'middle half'],
      rows: [
        ...pairs.map((p) => [
          p.name,
          p.directMs.toFixed(2),
          p.throughMs.toFixed(2),
          p.addedMs.toFixed(2),
          p.ratio.toFixed(2),
          p.spread.map((x) => x.toFixed(2)).join(' to '),
        ]),
      ],
      targets: [
        ...[...small, version].map(added),
        ...lists.map((pair) => ratio(pair, maxListRatio)),
        ratio(stream, maxStreamRatio),
        ...(podStats === undefined ? [] : [ratio(podStats, maxStatsRatio)]),
        {
          name: `memory growth, ${growth.beforeMiB.toFixed(0)} MiB before`,
          measured: `${grown.toFixed(0)} MiB`,
          limit: `<= ${maxGrowthMiB} MiB`,
          met: grown <= maxGrowthMiB,
        },
      ],
    }
  } finally {
    direct.close()
    through.close()
    await server.close()
    await scripted.close()
  }
}

export const cri: BenchUnit = {
  name: 'cri',
  summary: 'calls through the CRI server against direct ones, and its memory under load',
  run,
}
