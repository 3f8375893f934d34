import { expect, test } from 'vitest'
import { allCells, type Cell, keyOf, pairsOf, pairwiseCells } from '../../conformance/matrix/cells.js'

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
