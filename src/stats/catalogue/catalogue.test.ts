// The catalogue against the published list of all container_* metrics: what must be there is, with the same type, labels
// and level, and only what may be left out is left out, with a reason in docs/metrics.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { leftOut } from '../../../test/support/left-out-metrics.js'
import { allFamilies, familyOf } from './index.js'

interface Listed {
  readonly name: string
  readonly type: string
  readonly unit: string
  readonly extraLabels: readonly string[]
  readonly level: string
  readonly group: string
  readonly inKEP: boolean
  readonly requiredByCritest: boolean
  readonly keelson: 'required' | 'recommended' | 'optional' | 'drop'
}

const root = join(import.meta.dirname, '../../..')
const { metrics } = JSON.parse(readFileSync(join(root, 'test/fixtures/cadvisor-metrics.json'), 'utf8')) as {
  metrics: readonly Listed[]
}

/** The KEP takes this one away. */
const removedByKep = 'container_cpu_load_average_10s'
const mustBeThere = (m: Listed): boolean =>
  m.name !== removedByKep &&
  (m.requiredByCritest || m.inKEP || m.keelson === 'required' || m.keelson === 'recommended')

test('the list has 106 metrics, 56 of them required by critest', () => {
  expect(metrics).toHaveLength(106)
  expect(metrics.filter((m) => m.requiredByCritest)).toHaveLength(56)
})

describe('each metric', () => {
  for (const m of metrics)
    test(m.name, () => {
      const family = familyOf(m.name)
      const reason = leftOut[m.name]
      expect(family === undefined, 'either a family or a reason').toBe(reason !== undefined)
      if (mustBeThere(m)) expect(family).toBeDefined()
      if (family === undefined) {
        if (m.name !== removedByKep) expect(['optional', 'drop']).toContain(m.keelson)
        return
      }
      expect({ ...family, extraLabels: [...family.extraLabels].sort() }).toMatchObject({
        type: m.type,
        level: m.level,
        group: m.group,
        extraLabels: [...m.extraLabels].sort(),
        decimals: m.unit.endsWith('seconds') && m.unit !== 'microseconds' ? 9 : 0,
        // Only the KEP's table asks for this one, and scrapers drop it.
        enabledByDefault: m.name !== 'container_tasks_state',
      })
    })
})

test('no family is unknown to the list, and no reason is given twice', () => {
  const names = new Set(metrics.map((m) => m.name))
  expect(allFamilies.filter((f) => !names.has(f.name))).toEqual([])
  expect(Object.keys(leftOut).filter((name) => !names.has(name))).toEqual([])
  expect(allFamilies.length + Object.keys(leftOut).length).toBe(106)
})
