import { expect, test } from 'vitest'
import { createWatchTable } from './watch-table.js'

const header = ['NAMESPACE', 'NAME', 'STATUS', 'AGE']

/** Where each column begins. */
const starts = (line: string): number[] => [...line.matchAll(/(?<=^|\s{3})\S/g)].map((m) => m.index)

test('get pods -w: the header is laid out for the rows below it, not for an empty table', () => {
  const table = createWatchTable(header)
  const [titles = '', first = '', second = '', end] = table([
    ['default', 'a-long-name-of-a-pod-lab-node', 'Running', '5s'],
    ['kube-system', 'b', 'Pending', '5s'],
  ]).split('\n')
  expect(starts(titles)).toEqual(starts(first))
  expect(starts(titles)).toEqual(starts(second))
  expect(end).toBe('')
})

test('get pods -w: later rows keep the columns, and a wider one brings the header again', () => {
  const table = createWatchTable(header)
  table([['default', 'web-lab-node', 'Running', '5s']])
  expect(table([['default', 'web', 'Failed', '10s']])).toBe('default     web            Failed    10s\n')
  const [titles = '', row = ''] = table([['default', 'web-lab-node', 'CrashLoopBackOff', '20s']]).split('\n')
  expect(titles).toMatch(/^NAMESPACE/)
  expect(starts(titles)).toEqual(starts(row))
})

test('get pods -w: without pods the header stands alone, and nothing is printed for nothing', () => {
  const table = createWatchTable(header)
  expect(table([])).toBe('NAMESPACE   NAME   STATUS   AGE\n')
  expect(table([])).toBe('')
})
