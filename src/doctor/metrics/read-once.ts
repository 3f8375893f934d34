// Reads the values of this node once, without serving them: from the runtime, or from cgroups.
import { keelsonError } from '../../core/errors.js'
import type { Metrics } from '../../ports/metrics.js'
import { createStats, type Stats } from '../../stats/create-stats.js'
import { decodePieces } from '../../stats/render/text-bytes.js'
import type { StatsDescription } from '../../stats/sources.js'
import type { StatsOptions } from '../../stats/stats-options.js'

export interface Values {
  readonly cadvisor: string
  readonly resource: string
  readonly summary: string
  readonly from: StatsDescription
}

export interface ValuesInput
  extends Omit<StatsOptions, 'fromCri' | 'periodMs' | 'filesystemPeriodMs' | 'metrics'> {
  /** A registry for each source: both have the same counters. */
  openMetrics(): Promise<Metrics>
}

const SAMPLE_MS = 1_000
const LOOK_MS = 50

async function answers(stats: Stats, waitMs: number): Promise<Values> {
  const cadvisor = decodePieces(await stats.cadvisor(waitMs))
  return {
    cadvisor,
    resource: decodePieces(await stats.resource(waitMs)),
    summary: decodePieces(await stats.summary(true, waitMs)),
    from: stats.describe(),
  }
}

/** Runs the loops of one source while the work goes on. */
async function during<T>(
  input: ValuesInput,
  fromCri: boolean,
  signal: AbortSignal,
  work: (stats: Stats) => Promise<T>,
): Promise<T> {
  const stats = createStats({
    ...input,
    metrics: await input.openMetrics(),
    fromCri,
    // What the runtime says is compared, and not what a kubelet makes of it.
    values: 'trust',
    periodMs: SAMPLE_MS,
    filesystemPeriodMs: 2 * SAMPLE_MS,
  })
  const stop = new AbortController()
  const running = stats.run(AbortSignal.any([signal, stop.signal]))
  try {
    return await work(stats)
  } finally {
    stop.abort(new Error('read'))
    await running
  }
}

/** Two samples later: filesystem values and rates are there too. */
const SETTLE_MS = 2.5 * SAMPLE_MS

async function fromCgroups(
  input: ValuesInput,
  stats: Stats,
  waitMs: number,
  signal: AbortSignal,
): Promise<Values> {
  await stats.cadvisor(waitMs)
  if (stats.describe().metrics.source === null)
    throw keelsonError(
      'runtime.unavailable',
      `list the pods of this node through ${input.client.endpoint}: no response within ${waitMs / 1000} s; is the runtime running?`,
    )
  await input.clock.sleep(SETTLE_MS, signal)
  return answers(stats, 0)
}

export const readCgroupsOnce = (input: ValuesInput, waitMs: number, signal: AbortSignal): Promise<Values> =>
  during(input, false, signal, (stats) => fromCgroups(input, stats, waitMs, signal))

/** The runtime's values, or what it said instead of them. */
const readRuntimeOnce = (input: ValuesInput, waitMs: number, signal: AbortSignal): Promise<Values> =>
  during(input, true, signal, async (stats) => {
    const unknown = (): boolean => {
      const { stats: s, metrics: m } = stats.describe()
      return s.runtime === 'unknown' || m.runtime === 'unknown'
    }
    for (let left = waitMs; left > 0 && unknown(); left -= LOOK_MS) await input.clock.sleep(LOOK_MS, signal)
    await input.clock.sleep(SETTLE_MS, signal)
    return answers(stats, LOOK_MS)
  })

export interface BothValues {
  readonly before: Values
  readonly runtime: Values
  readonly after: Values
}

/** The runtime's between two readings of the cgroups, so that what moves meanwhile is known to move. */
export const readBoth = (input: ValuesInput, waitMs: number, signal: AbortSignal): Promise<BothValues> =>
  during(input, false, signal, async (stats) => {
    const before = await fromCgroups(input, stats, waitMs, signal)
    const runtime = await readRuntimeOnce(input, waitMs, signal)
    await input.clock.sleep(SETTLE_MS, signal)
    return { before, runtime, after: await answers(stats, 0) }
  })
