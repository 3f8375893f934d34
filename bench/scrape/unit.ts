// `scrape`: what /metrics/cadvisor costs. The sweep against a C loop that does the same reads, the exporter against cAdvisor
// at 110 real and at 500 synthetic pods, time and memory over a thousand scrapes, and the gate on against off. As root.
import { buildPeer } from '../../conformance/peers/build.js'
import type { PodNode } from '../../test/kubelet/node.js'
import { bundleCommand } from '../../test/support/command.js'
import { atMost, type BenchReport, type BenchTarget, type BenchUnit } from '../unit.js'
import { type Cost, type LongRun, measureCosts, measureLongRun } from './exporters.js'
import { type GateCost, gateTotal, measureGate } from './gate.js'
import { startRealPods, startSyntheticPods } from './places.js'
import { measureBothSizes, type PlacedSweeps } from './sweep-sizes.js'
import { type Exporter, startCadvisor, startCompanion } from './watched.js'

/** Smaller only while the benchmark itself is worked on. */
const SMALL = Number(process.env.SCRAPE_PODS ?? 110)
const LARGE = Number(process.env.SCRAPE_PODS_LARGE ?? 500)
const WINDOW_MS = Number(process.env.SCRAPE_WINDOW_MS ?? 50_000)
/** Layers and logs are looked at once a minute. */
const GATE_WINDOW_MS = 1.2 * WINDOW_MS
const MAX_RATIO = 2
const MAX_GROWTH = 1.15
const MAX_P99_MS = 100
const MAX_RSS_MIB = 10

const log = (line: string): void => console.error(`scrape: ${line}`)

async function closeAll(exporters: readonly Exporter[]): Promise<void> {
  for (const e of exporters) await e.close()
}

interface RealNode {
  readonly costs: readonly Cost[]
  readonly longRun: LongRun
  readonly gate: readonly GateCost[]
}

async function measureReal(binary: string, main: string, signal: AbortSignal): Promise<RealNode> {
  log(`${SMALL} real pods start`)
  const node: PodNode = await startRealPods(SMALL)
  try {
    log('Keelson and cAdvisor beside each other')
    const exporters = [
      await startCompanion(main, node.containerd.endpoint, node.cgroupRoot),
      await startCadvisor(binary, node.cgroupRoot, node.containerd.socket),
    ]
    let costs: readonly Cost[]
    let longRun: LongRun
    try {
      costs = await measureCosts(exporters, SMALL, WINDOW_MS, signal)
      const [ours, theirs] = exporters
      await theirs?.close()
      if (ours === undefined) throw new Error('no exporter')
      log('a thousand scrapes')
      longRun = await measureLongRun(ours, signal)
    } finally {
      await closeAll(exporters)
    }
    log('the kubelet with the gate off and on')
    return { costs, longRun, gate: await measureGate(node, { main, windowMs: GATE_WINDOW_MS, signal }) }
  } finally {
    await node.close()
  }
}

async function measureSynthetic(binary: string, main: string, signal: AbortSignal): Promise<readonly Cost[]> {
  log(`${LARGE} synthetic pods`)
  const node = await startSyntheticPods(LARGE, signal)
  const exporters: Exporter[] = []
  try {
    exporters.push(await startCompanion(main, node.endpoint, node.cgroupRoot))
    exporters.push(await startCadvisor(binary, node.cgroupRoot, '/nonexistent.sock'))
    return await measureCosts(exporters, LARGE, WINDOW_MS * 0.75, signal)
  } finally {
    await closeAll(exporters)
    await node.close()
  }
}

const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 0)

function sweepTargets(sweeps: readonly PlacedSweeps[]): BenchTarget[] {
  const ratios = sweeps.flatMap(({ place, results }) =>
    results.map((r) =>
      atMost(`sweep against C at ${r.pods} pods, ${place}`, r.oursMs / r.floorMs, MAX_RATIO),
    ),
  )
  const last = sweeps.at(-1)
  const [small, large] = last?.results ?? []
  if (small === undefined || large === undefined) throw new Error('two sizes are compared')
  const growth = large.oursMs / large.pods / (small.oursMs / small.pods)
  return [
    ...ratios,
    atMost(`sweep per pod, ${large.pods} against ${small.pods}, ${last?.place}`, growth, MAX_GROWTH),
  ]
}

function costTargets(costs: readonly Cost[]): BenchTarget[] {
  const [ours, theirs] = costs
  if (ours === undefined || theirs === undefined) throw new Error('two exporters are compared')
  const less = (name: string, a: number, b: number): BenchTarget => ({
    name: `${name} at ${ours.pods} pods, ours against cAdvisor`,
    measured: `${ms(a)} and ${ms(b)} ms`,
    limit: 'less',
    met: a < b,
  })
  return [
    less('CPU per minute', ours.cpuMsPerMinute, theirs.cpuMsPerMinute),
    less('CPU per scrape', ours.cpuMsPerScrape, theirs.cpuMsPerScrape),
  ]
}

/** KEP-2371, for runtimes that already collect what they are asked for: containerd 1.6 does not. */
const KEP_RATIO = 1.02
/** Our own limits, with `keelson cri` in front. */
const MAX_GATE = { cpu: 1.15, memory: 1.05 } as const

function gateTargets(off: GateCost, on: GateCost): BenchTarget[] {
  const [a, b] = [gateTotal(off), gateTotal(on)]
  const name = `gate ${on.mode}, against off`
  const own =
    on.mode === 'on'
      ? []
      : [
          atMost(`${name}: CPU`, b.cpuS / a.cpuS, MAX_GATE.cpu),
          atMost(`${name}: memory`, b.rssMiB / a.rssMiB, MAX_GATE.memory),
        ]
  return [...own, atMost(`${name}: CPU (KEP-2371)`, b.cpuS / a.cpuS, KEP_RATIO)]
}

function report(sweeps: readonly PlacedSweeps[], real: RealNode, large: readonly Cost[]): BenchReport {
  const row = (name: string, pods: number, ...cells: readonly string[]): string[] => [
    name,
    String(pods),
    ...cells,
  ]
  const costRows = [...real.costs, ...large].map((c) =>
    row(
      c.name,
      c.pods,
      `${ms(c.cpuMsPerMinute)} ms CPU/min`,
      `${ms(c.cpuMsPerScrape)} ms CPU/scrape`,
      `${ms(c.scrapeMs)} ms, ${c.series} series, ${c.gzipKiB.toFixed(0)} KiB`,
      `${c.rssMiB.toFixed(0)} MiB`,
    ),
  )
  const sweepRows = sweeps.flatMap(({ place, results }) =>
    results.map((r) =>
      row(
        `sweep, ${place}`,
        r.pods,
        `${r.oursMs.toFixed(1)} ms ours`,
        `${r.floorMs.toFixed(1)} ms C`,
        `${r.reads} reads`,
        `${((1000 * r.oursMs) / r.pods).toFixed(0)} us/pod`,
      ),
    ),
  )
  const gateRows = real.gate.map((g) => {
    const beside = g.server.rssMiB === 0 ? [] : [['keelson cri', g.server] as const]
    const shown = [
      ['kubelet', g.kubelet],
      ['containerd', g.containerd],
      ['shims', g.shims],
      ...beside,
    ] as const
    return row(
      `kubelet + runtime, gate ${g.mode}`,
      SMALL,
      `${(gateTotal(g).cpuS * 1000).toFixed(0)} ms CPU/min`,
      shown.map(([name, u]) => `${name} ${(u.cpuS * 1000).toFixed(0)}`).join(', '),
      shown.map(([name, u]) => `${name} ${u.rssMiB.toFixed(0)} MiB`).join(', '),
      `${gateTotal(g).rssMiB.toFixed(0)} MiB`,
    )
  })
  const [off, ...others] = real.gate
  const { p99Ms, medianMs, growthMiB } = real.longRun
  return {
    file: 'scrape',
    title: 'Scrape of /metrics/cadvisor',
    method: [
      `"sweep" is the CPU time of one pass of the collectors over the cgroup files of pods with two containers and a sandbox, a sleeping process in each (median of alternating runs, after 100 passes on this machine, as in a process that has run for a quarter of an hour); "C" is the same reads with kept descriptors and no parsing.`,
      sweeps.length > 1
        ? `This machine lets a process open too few files for ${LARGE} pods, so that the two sizes are compared in a kernel that does.`
        : '',
      `The exporters run as processes at the same time on the same cgroups: \`keelson companion\` over HTTPS, and cAdvisor as a kubelet runs it (its metric set, 10 s housekeeping) over HTTP, both scraped every 10 s with gzip; CPU per minute is everything that the process did meanwhile, CPU per scrape what up to 40 scrapes in a row add. ${SMALL} pods are real ones of containerd 1.6, ${LARGE} are synthetic cgroups behind a scripted runtime, which cAdvisor takes for plain cgroups.`,
      'The thousand scrapes are over HTTPS, 60 ms apart; resident memory is as the kernel counts it, without forced collection (medians of the 200 scrapes around the 200th and of the 200 before the 1,000th).',
      'kubelet + runtime: the same real pods, all three endpoints every 10 s, mean of two turns of a minute each; the runtime is containerd with all its shims, and `keelson cri` where it is in front: containerd 1.6 reads its cgroups through a shim each for every list of values. Shims take their share of a minute even when nobody asks.',
    ]
      .filter((s) => s !== '')
      .join(' '),
    columns: ['what', 'pods', 'cost', 'beside', 'more', 'memory'],
    rows: [
      ...sweepRows,
      ...costRows,
      row(
        'a thousand scrapes',
        SMALL,
        `p99 ${p99Ms.toFixed(1)} ms`,
        `median ${medianMs.toFixed(1)} ms`,
        '',
        `${growthMiB.toFixed(1)} MiB growth`,
      ),
      ...gateRows,
    ],
    targets: [
      ...sweepTargets(sweeps),
      ...(off === undefined ? [] : others.flatMap((g) => gateTargets(off, g))),
      ...costTargets(real.costs),
      ...costTargets(large),
      {
        name: `/metrics/cadvisor p99 at ${SMALL} pods, over HTTPS`,
        measured: `${p99Ms.toFixed(1)} ms`,
        limit: `<= ${MAX_P99_MS} ms`,
        met: p99Ms <= MAX_P99_MS,
      },
      {
        name: 'resident growth, scrape 200 to 1,000',
        measured: `${growthMiB.toFixed(1)} MiB`,
        limit: `< ${MAX_RSS_MIB} MiB`,
        met: growthMiB < MAX_RSS_MIB,
      },
    ],
  }
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const binary = await buildPeer('cadvisor', log)
  const bundle = await bundleCommand()
  try {
    log('sweeps')
    const sweeps = await measureBothSizes([SMALL, LARGE], signal)
    const large = await measureSynthetic(binary, bundle.main, signal)
    return report(sweeps, await measureReal(binary, bundle.main, signal), large)
  } finally {
    await bundle.remove()
  }
}

export const scrape: BenchUnit = {
  name: 'scrape',
  summary: '/metrics/cadvisor at 110 and 500 pods against a C loop and cAdvisor; gate on against off (root)',
  run,
}
