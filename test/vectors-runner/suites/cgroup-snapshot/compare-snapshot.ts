// What was read against what a snapshot expects: values of CRI, every series of each listed name, and absent names.
import type { NetworkUsage, Psi, PsiLine } from '../../../../src/stats/usage.js'
import { compare } from '../../compare.js'
import { type Difference, type Fields, fieldsAt, isFields } from '../../types.js'
import type { ReadSnapshot, Series } from './read-snapshot.js'

const text = (value: bigint | undefined): string | null => (value === undefined ? null : value.toString())

const psiLine = ({ totalNanos, ...averages }: PsiLine) => ({ totalNs: text(totalNanos), ...averages })
const psi = (p: Psi | undefined) =>
  p === undefined ? null : { some: psiLine(p.some), full: psiLine(p.full) }

function statsOf({ usage: { cpu, memory, swap, io }, timeNanos, processCount }: ReadSnapshot) {
  return {
    cpu: cpu && {
      timestamp: text(cpu.timeNanos),
      usageCoreNanoSeconds: text(cpu.usageCoreNanoSeconds),
      usageNanoCores: text(cpu.usageNanoCores),
      psi: psi(cpu.psi),
    },
    memory: memory && {
      timestamp: text(memory.timeNanos),
      usageBytes: text(memory.usageBytes),
      workingSetBytes: text(memory.workingSetBytes),
      rssBytes: text(memory.rssBytes),
      availableBytes: text(memory.availableBytes),
      pageFaults: text(memory.pageFaults),
      majorPageFaults: text(memory.majorPageFaults),
      psi: psi(memory.psi),
    },
    swap: swap && {
      timestamp: text(swap.timeNanos),
      swapUsageBytes: text(swap.usageBytes),
      swapAvailableBytes: text(swap.availableBytes),
    },
    io: io && { timestamp: text(io.timeNanos), psi: psi(io.psi) },
    process:
      processCount === undefined ? null : { timestamp: text(timeNanos), processCount: text(processCount) },
  }
}

function networkOf(network: NetworkUsage | undefined) {
  if (network === undefined) return null
  const one = (i: NetworkUsage['interfaces'][number] | undefined) =>
    i && {
      name: i.name,
      rxBytes: text(i.rxBytes),
      rxErrors: text(i.rxErrors),
      txBytes: text(i.txBytes),
      txErrors: text(i.txErrors),
    }
  return {
    timestamp: text(network.timeNanos),
    defaultInterface: one(network.defaultInterface) ?? null,
    interfaces: network.interfaces.map(one),
  }
}

/** Undefined parts are null in the expectation. */
const withNulls = (of: Fields): Fields =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, value ?? null]))

/** `1.50` and `1.5` are the same decimal. */
const plain = (decimal: unknown): string => {
  const s = String(decimal)
  return s.includes('.') ? s.replace(/\.?0+$/, '') : s
}

const keyOf = (s: Fields): string =>
  `${String(s.name)}${JSON.stringify(Object.entries(isFields(s.extraLabels) ? s.extraLabels : {}).sort())}`

function seriesByKey(list: readonly unknown[]): Readonly<Record<string, Fields>> {
  return Object.fromEntries(
    list
      .filter(isFields)
      .map((s) => [keyOf(s), { type: s.type, exact: plain(s.exact), criValue: String(s.criValue) }]),
  )
}

/** For each name listed the series listed are all there are; other names are not looked at. */
function compareSeries(expected: unknown, got: readonly Series[]): readonly Difference[] {
  const wanted = Array.isArray(expected) ? expected : []
  const names = new Set(wanted.filter(isFields).map((s) => s.name))
  const listed = got.filter((s) => names.has(s.name)).map((s): Fields => ({ ...s }))
  return compare(seriesByKey(wanted), seriesByKey(listed), { complete: [''] })
}

const below =
  (prefix: string) =>
  (d: Difference): Difference => ({ ...d, path: d.path === '' ? prefix : `${prefix}.${d.path}` })

export function compareSnapshot(snapshot: Fields, got: ReadSnapshot): readonly Difference[] {
  const expected = fieldsAt(snapshot, 'expected')
  const absent = Array.isArray(expected.absentMetrics) ? expected.absentMetrics : []
  const names = new Set([...got.metrics, ...got.podMetrics].map((s) => s.name))
  const twice = got.metrics.map((s) => keyOf({ ...s })).filter((key, i, all) => all.indexOf(key) !== i)
  return [
    ...compare(expected.stats, withNulls(statsOf(got))).map(below('stats')),
    ...compareSeries(expected.metrics, got.metrics).map(below('metrics')),
    ...absent
      .filter((name) => names.has(name))
      .map((name) => ({ path: `absentMetrics.${name}`, expected: undefined, got: 'there' })),
    ...twice.map((key) => ({ path: `metrics.${key}`, expected: 'one series', got: 'two' })),
    ...(expected.podNetwork === undefined
      ? []
      : compare(expected.podNetwork, networkOf(got.podNetwork)).map(below('podNetwork'))),
    ...compareSeries(expected.podMetrics, got.podMetrics).map(below('podMetrics')),
  ]
}
