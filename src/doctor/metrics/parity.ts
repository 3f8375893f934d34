// Compares the runtime's values with those of the cgroups, family by family. A value of the runtime must lie between a
// reading of the cgroups before it and one after it, give or take a tolerance: then both sources count the same thing.
import { type DefectName, defectsShownBy, type RuntimeName } from '../../stats/repair/defects.js'
import type { BothValues, Values } from './read-once.js'
import { labelOf, type PrintedSeries, readText } from './read-text.js'
import { summarySeries } from './summary-series.js'

type EndpointPath = '/metrics/cadvisor' | '/metrics/resource' | '/stats/summary'
type Rule = 'counter' | 'gauge' | 'exact'

interface Outlier {
  readonly block: string
  readonly runtime: number
  readonly cgroup: readonly [before: number, after: number]
}

export interface FamilyParity {
  readonly endpoint: EndpointPath
  readonly name: string
  readonly rule: Rule
  /** Series that both have. */
  readonly compared: number
  /** Label blocks of the others. */
  readonly onlyRuntime: readonly string[]
  readonly onlyCgroup: readonly string[]
  readonly typesDiffer: boolean
  readonly outside: readonly Outlier[]
  /** Known defects of the runtime that explain a difference. */
  readonly defects: readonly DefectName[]
}

export interface ParityReport {
  readonly families: readonly FamilyParity[]
  /** Endpoints that have nothing of the runtime to compare, and why. */
  readonly notCompared: readonly { readonly endpoint: EndpointPath; readonly why: string }[]
}

const MiB = 1024 * 1024
const COUNTER_SHARE = 0.01
const GAUGE_SHARE = 0.05
/** CRI carries whole numbers, so that seconds lose up to one. */
const WIRE_SECOND = 1

/** Limits, counts and times of birth are the same number in both sources. */
const exactName =
  /^container_(spec_|ulimits_|threads|processes|sockets|file_descriptors|start_time|creation_time)|process_count$|^container_fs_(limit|inodes_total)|(capacityBytes|\.inodes)$/

export const ruleOf = ({ name, type }: Pick<PrintedSeries, 'name' | 'type'>): Rule =>
  exactName.test(name) ? 'exact' : type

export function isWithin(name: string, rule: Rule, value: number, low: number, high: number): boolean {
  const share = rule === 'counter' ? COUNTER_SHARE : rule === 'gauge' ? GAUGE_SHARE : 0
  const absolute = rule === 'gauge' && /bytes|memory/i.test(name) ? MiB : 0
  const cut = rule === 'counter' && /_seconds_total$/.test(name) ? WIRE_SECOND : 0
  return (
    value >= low - Math.max(low * share, absolute) - cut && value <= high + Math.max(high * share, absolute)
  )
}

type ByName = ReadonlyMap<string, ReadonlyMap<string, PrintedSeries>>

/** Only pods: the node's own values come from the kernel either way. */
function byName(series: readonly PrintedSeries[]): ByName {
  const names = new Map<string, Map<string, PrintedSeries>>()
  for (const one of series) {
    if ((labelOf(one.block, 'pod') ?? '') === '') continue
    const blocks = names.get(one.name) ?? new Map<string, PrintedSeries>()
    names.set(one.name, blocks.set(one.block, one))
  }
  return names
}

function compareFamily(
  endpoint: EndpointPath,
  name: string,
  [before, runtime, after]: readonly [ByName, ByName, ByName],
): Omit<FamilyParity, 'defects'> | undefined {
  const [early, theirs, late] = [before.get(name), runtime.get(name), after.get(name)]
  const [any] = [...(early?.values() ?? []), ...(theirs?.values() ?? []), ...(late?.values() ?? [])]
  if (any === undefined) return undefined
  const rule = ruleOf(any)
  const outside: Outlier[] = []
  const onlyCgroup: string[] = []
  let compared = 0
  let typesDiffer = false
  for (const [block, { value: a, type }] of early ?? []) {
    const b = late?.get(block)?.value
    const one = theirs?.get(block)
    // Gone by the second look: nothing can be said.
    if (b === undefined) continue
    if (one === undefined) onlyCgroup.push(block)
    else {
      compared++
      typesDiffer ||= one.type !== type
      if (!isWithin(name, rule, one.value, Math.min(a, b), Math.max(a, b)))
        outside.push({ block, runtime: one.value, cgroup: [a, b] })
    }
  }
  const onlyRuntime = [...(theirs?.keys() ?? [])].filter(
    (k) => early?.has(k) !== true && late?.has(k) !== true,
  )
  return { endpoint, name, rule, compared, onlyRuntime, onlyCgroup, typesDiffer, outside }
}

export const isEqual = (f: Omit<FamilyParity, 'defects'>): boolean =>
  f.outside.length === 0 && f.onlyCgroup.length === 0 && f.onlyRuntime.length === 0 && !f.typesDiffer

const endpoints: readonly {
  readonly endpoint: EndpointPath
  readonly part: 'stats' | 'metrics'
  readonly read: (values: Values) => PrintedSeries[]
}[] = [
  { endpoint: '/metrics/cadvisor', part: 'metrics', read: (f) => readText(f.cadvisor) },
  { endpoint: '/metrics/resource', part: 'stats', read: (f) => readText(f.resource) },
  { endpoint: '/stats/summary', part: 'stats', read: (f) => summarySeries(f.summary) },
]

const calls = {
  stats: 'ListPodSandboxStats',
  metrics: 'ListMetricDescriptors and ListPodSandboxMetrics',
} as const

export function compareValues({ before, runtime, after }: BothValues, name?: RuntimeName): ParityReport {
  const families: FamilyParity[] = []
  const notCompared: { endpoint: EndpointPath; why: string }[] = []
  for (const { endpoint, part, read } of endpoints) {
    if (runtime.from[part].source !== 'cri') {
      const state = runtime.from[part].runtime
      const why = state === 'unsupported' ? 'does not implement' : 'did not respond to'
      notCompared.push({
        endpoint,
        why: `the runtime ${why} ${calls[part]}; with the gate on, cgroups are still read for it`,
      })
      continue
    }
    const all = [byName(read(before)), byName(read(runtime)), byName(read(after))] as const
    for (const one of [...new Set(all.flatMap((m) => [...m.keys()]))].sort()) {
      const family = compareFamily(endpoint, one, all)
      if (family === undefined) continue
      const isKnown = name !== undefined && !isEqual(family)
      families.push({ ...family, defects: isKnown ? defectsShownBy(name, family.name) : [] })
    }
  }
  return { families, notCompared }
}
