import { expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import { formatKlogLine } from './klog.js'
import { createLog } from './log.js'

const capture = (format: 'text' | 'json', level: 'debug' | 'info' = 'info') => {
  const lines: string[] = []
  return { lines, log: createLog({ format, level, write: (line) => lines.push(line) }) }
}

test('json: one object a line, bigints exact, errors with their code', () => {
  const { lines, log } = capture('json')
  log.with({ pod: 'a' }).warn('throttled', { high: 2n ** 60n, error: keelsonError('cgroup.busy', 'in use') })
  log.debug('not shown')
  expect(lines.length).toBe(1)
  const record = JSON.parse(lines[0] ?? '')
  expect(record).toMatchObject({
    level: 'warn',
    pod: 'a',
    high: '1152921504606846976',
    error: { code: 'cgroup.busy', message: 'in use' },
    msg: 'throttled',
  })
  expect(Number.isNaN(Date.parse(record.time))).toBe(false)
})

test('text: the line of Kubernetes components, and never more than one line', () => {
  const { lines, log } = capture('text', 'debug')
  log.error('a "quoted"\nmessage', { error: new Error('x\ny'), n: 1, b: true })
  log.debug('small')
  expect(lines[0]).toMatch(
    /^E\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ keelson\] "a \\"quoted\\"\\nmessage" error="x\\ny" n=1 b=true\n$/,
  )
  expect(lines[1]?.startsWith('D')).toBe(true)
})

test('klog: date and padding', () => {
  const time = new Date(2026, 0, 2, 3, 4, 5, 6).toISOString()
  expect(formatKlogLine({ level: 'info', time, msg: 'hello' }, 42)).toBe(
    'I0102 03:04:05.006000      42 keelson] "hello"\n',
  )
})
