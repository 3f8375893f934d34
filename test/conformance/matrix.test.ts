import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allCells, type Cell, keyOf, pairsOf, pairwiseCells } from '../../conformance/matrix/cells.js'
import { isFinished, judged } from '../../conformance/matrix/results.js'
import { formatMatrix, renderPage } from '../../conformance/matrix/table.js'

const pairs = (cells: readonly Cell[]): string[] => [...new Set(cells.flatMap(pairsOf))].sort()

test('every pair of values is in a chosen cell, in far fewer cells than there are', () => {
  const chosen = pairwiseCells(allCells)
  expect(pairs(chosen)).toEqual(pairs(allCells))
  // 4 clients x 4 runtimes can not be had in fewer than 16.
  expect(chosen.length).toBeGreaterThanOrEqual(16)
  expect(chosen.length).toBeLessThanOrEqual(20)
  expect(new Set(chosen.map(keyOf)).size).toBe(chosen.length)
})

test('cells that cannot exist are replaced by others with the same pairs', () => {
  const possible = allCells.filter((c) => !(c.client === 'critest' && c.place === 'uml-systemd'))
  const chosen = pairwiseCells(possible)
  expect(pairs(chosen)).toEqual(pairs(possible))
  expect(chosen.every((c) => possible.includes(c))).toBe(true)
})

test('the same cells are chosen every time', () => {
  expect(pairwiseCells(allCells)).toEqual(pairwiseCells([...allCells]))
})

describe('the table', () => {
  const [cell] = pairwiseCells(allCells) as [Cell]

  test('shows what was found, what is not here and why, and what was not run', () => {
    const checks = [
      { name: 'pods start', outcome: 'passed', seconds: 1 },
      { name: 'Memory QoS values', outcome: 'not here', seconds: 0, reason: 'cgroup v1 has no memory.high' },
      { name: 'logs', outcome: 'failed', seconds: 1, reason: 'none' },
    ] as const
    const lines = formatMatrix({ [keyOf(cell)]: { on: '2026-11-16', seconds: 61.4, checks } }).split('\n')
    expect(
      lines.filter((l) => l.includes('1 of 3 passed; **failed**: logs; not here: Memory QoS values')),
    ).toHaveLength(1)
    expect(lines.filter((l) => l.includes('not run')).length).toBeGreaterThan(10)
    expect(lines.at(-1)).toContain('cgroup v1 has no memory.high')
  })

  test('on the page is the one of the recorded results', async () => {
    expect(await renderPage()).toBe(
      readFileSync(join(import.meta.dirname, '../../docs/conformance.md'), 'utf8'),
    )
  })
})

test('without Keelson in a cell nothing fails because of it', () => {
  const failed = { name: 'exec', outcome: 'failed', seconds: 1 } as const
  const [control] = allCells.filter((c) => c.client === 'crictl' && c.way === 'directly') as [Cell]
  const [ours] = allCells.filter((c) => c.client === 'crictl' && c.way === 'keelson cri') as [Cell]
  expect(judged(control, [failed])[0]?.outcome).toBe('not here')
  expect(judged(ours, [failed])[0]?.outcome).toBe('failed')
  expect(isFinished({ on: '', seconds: 1, checks: judged(ours, [failed]) })).toBe(false)
})
