// Keelson and cAdvisor on the same cgroups at the same time: what each uses over a while of scraping, and for a scrape.
import { setTimeout as sleep } from 'node:timers/promises'
import { usageOf } from '../process-usage.js'
import { median } from '../unit.js'
import type { Exporter, Scraped } from './watched.js'

/** Every how often both are scraped; the housekeeping and the sampler have the same period. */
const INTERVAL_MS = 10_000
const SCRAPES_IN_A_ROW = 40
/** Fewer of them where one takes long. */
const ROW_MS = 10_000
/** Housekeeping starts spread over its interval. */
const SETTLE_MS = 25_000

export interface Cost {
  readonly name: string
  readonly pods: number
  readonly series: number
  readonly gzipKiB: number
  /** Everything that the process did, scraped at the interval. */
  readonly cpuMsPerMinute: number
  /** On top of the background. */
  readonly cpuMsPerScrape: number
  readonly scrapeMs: number
  readonly rssMiB: number
}

export async function measureCosts(
  exporters: readonly Exporter[],
  pods: number,
  windowMs: number,
  signal: AbortSignal,
): Promise<Cost[]> {
  await sleep(SETTLE_MS, undefined, { signal })
  for (const e of exporters) await e.scrape()
  const first = exporters.map((e) => usageOf(e.pid))
  const began = performance.now()
  while (performance.now() - began < windowMs) {
    await sleep(INTERVAL_MS, undefined, { signal })
    await Promise.all(exporters.map((e) => e.scrape()))
  }
  const minutes = (performance.now() - began) / 60_000
  const perMinute = exporters.map((e, i) => ((usageOf(e.pid).cpuS - (first[i]?.cpuS ?? 0)) * 1000) / minutes)
  const costs: Cost[] = []
  for (const [i, e] of exporters.entries()) {
    const { series, bytes } = await e.scrape(true)
    const before = usageOf(e.pid).cpuS
    const rowBegan = performance.now()
    const scrapes: Scraped[] = []
    while (scrapes.length < SCRAPES_IN_A_ROW && performance.now() - rowBegan < ROW_MS)
      scrapes.push(await e.scrape())
    const rowMs = performance.now() - rowBegan
    const inRow = (usageOf(e.pid).cpuS - before) * 1000
    const background = ((perMinute[i] ?? 0) * rowMs) / 60_000
    costs.push({
      name: e.name,
      pods,
      series,
      gzipKiB: bytes / 1024,
      cpuMsPerMinute: perMinute[i] ?? Number.NaN,
      cpuMsPerScrape: Math.max(0, inRow - background) / scrapes.length,
      scrapeMs: median(scrapes.map((s) => s.ms)),
      rssMiB: usageOf(e.pid).rssMiB,
    })
  }
  return costs
}

export interface LongRun {
  readonly p99Ms: number
  readonly medianMs: number
  readonly growthMiB: number
}

/** Wide enough for several samples: garbage comes and goes with each of them. */
const AROUND = 100

/** A thousand scrapes over HTTPS, spread so that samples change under them. Memory as the kernel counts it. */
export async function measureLongRun(exporter: Exporter, signal: AbortSignal): Promise<LongRun> {
  const times: number[] = []
  const resident: number[] = []
  for (let i = 0; i < 1_000; i++) {
    times.push((await exporter.scrape()).ms)
    resident.push(usageOf(exporter.pid).rssMiB)
    await sleep(60, undefined, { signal })
  }
  const sorted = times.slice(50).sort((a, b) => a - b)
  return {
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    medianMs: median(sorted),
    growthMiB: median(resident.slice(-2 * AROUND)) - median(resident.slice(200 - AROUND, 200 + AROUND)),
  }
}
