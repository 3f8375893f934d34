import { expect, test } from 'vitest'
import { parseCriLog } from './log-line.js'

test('lines, parts of lines and a cut first line', () => {
  const text = [
    '05.1Z stdout F the cut rest of a line is no log line? it has too few words',
    '2026-01-02T03:04:05.1Z stdout F hello world',
    '2026-01-02T03:04:05.2Z stdout P one ',
    '2026-01-02T03:04:05.2Z stderr F in between',
    '2026-01-02T03:04:05.3Z stdout F two',
    '2026-01-02T03:04:05.4Z stdout F',
    'garbage',
    '',
  ]
  expect(parseCriLog(text.slice(1).join('\n'))).toEqual([
    { time: '2026-01-02T03:04:05.1Z', stream: 'stdout', text: 'hello world' },
    { time: '2026-01-02T03:04:05.2Z', stream: 'stderr', text: 'in between' },
    { time: '2026-01-02T03:04:05.3Z', stream: 'stdout', text: 'one two' },
    { time: '2026-01-02T03:04:05.4Z', stream: 'stdout', text: '' },
  ])
})
