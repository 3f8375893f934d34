// The catalogue of container_* metrics as cases, one for each: a family of ours with its type, labels, level and group, or
// left out with a reason where the catalogue allows it.
import { familyOf } from '../../../src/stats/catalogue/index.js'
import { leftOut } from '../../support/left-out-metrics.js'
import { type Difference, isFields, type Suite, textAt, type VectorCase } from '../types.js'

/** The KEP takes this one away, whatever the catalogue says of it. */
const removedByKep = 'container_cpu_load_average_10s'
const mayBeLeftOut = new Set<unknown>(['optional', 'drop'])

const sorted = (labels: unknown): readonly string[] =>
  Array.isArray(labels) ? labels.map((l: unknown) => String(l)).sort() : []

function runMetric(metric: VectorCase): readonly Difference[] {
  const name = textAt(metric, 'name')
  const family = familyOf(name)
  if (family === undefined) return name === removedByKep ? [] : absence(metric, leftOut[name])
  const differences: Difference[] = []
  const compare = (path: string, expected: unknown, got: unknown): void => {
    if (expected !== undefined && JSON.stringify(expected) !== JSON.stringify(got))
      differences.push({ path, expected, got })
  }
  for (const key of ['type', 'level', 'group'] as const) compare(key, metric[key], family[key])
  if (metric['extraLabels'] !== undefined)
    compare('extraLabels', sorted(metric['extraLabels']), sorted(family.extraLabels))
  return differences
}

function absence(metric: VectorCase, reason: string | undefined): readonly Difference[] {
  const isRequired = metric['requiredByCritest'] === true || metric['inKEP'] === true
  if (isRequired || !mayBeLeftOut.has(metric['keelson']))
    return [{ path: 'family', expected: 'there', got: 'absent' }]
  return reason === undefined ? [{ path: 'family', expected: 'there, or a reason', got: 'neither' }] : []
}

export const cadvisorMetrics: Suite = {
  suite: 'cadvisor-metrics',
  cases: ({ metrics }) => (Array.isArray(metrics) ? metrics.map((m: unknown) => (isFields(m) ? m : {})) : []),
  run: runMetric,
}
