// Where the values of pods come from, endpoint by endpoint, and which of the names that KEP-2371 asks for are on the page.
import type { LiveSources } from '../../core/dashboard/model.js'
import { requiredMetrics } from '../../stats/catalogue/required.js'
import type { Stats } from '../../stats/create-stats.js'
import { decodePieces, type TextPieces } from '../../stats/render/text-bytes.js'

/** Only after a start there is anything to wait for. */
const firstWaitMs = 5_000
const typeLine = /^# TYPE (\S+) /gm

/** Families of a page in Prometheus' text format. */
const familiesOf = (page: string): ReadonlySet<string> =>
  new Set([...page.matchAll(typeLine)].map((m) => m[1] ?? ''))

export function parityOf(page: TextPieces): NonNullable<LiveSources['parity']> {
  const shown = familiesOf(decodePieces(page))
  const absent = requiredMetrics.filter((name) => !shown.has(name))
  return { present: requiredMetrics.length - absent.length, absent }
}

export async function describeSources(stats: Pick<Stats, 'describe' | 'cadvisor'>): Promise<LiveSources> {
  const { fromCri, stats: forStats, metrics, repaired } = stats.describe()
  return {
    fromCri,
    endpoints: [
      { endpoint: '/stats/summary', ...forStats },
      { endpoint: '/metrics/resource', ...forStats },
      { endpoint: '/metrics/cadvisor', ...metrics },
    ],
    parity: parityOf(await stats.cadvisor(firstWaitMs)),
    repaired,
  }
}
