import { expect, test } from 'vitest'
import { type CriLogPart, parseCriLine, parseCriLog, writtenText } from './log-line.js'

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

for (const [what, line, expected] of [
  ['a whole line', 'T stdout F a b', { time: 'T', stream: 'stdout', text: 'a b', isPartial: false }],
  ['an empty line', 'T stderr F', { time: 'T', stream: 'stderr', text: '', isPartial: false }],
  ['a part', 'T stdout P a ', { time: 'T', stream: 'stdout', text: 'a ', isPartial: true }],
  ['further tags', 'T stdout F:x:y a', { time: 'T', stream: 'stdout', text: 'a', isPartial: false }],
  ['a tag that is none', 'T stdout Full a', undefined],
  ['another stream', 'T stdin F a', undefined],
  ['a cut line', 'T stdout', undefined],
] as const)
  test(`one line of the file: ${what}`, () => expect(parseCriLine(line)).toEqual(expected))

test('a part has no newline, a whole line has one', () => {
  expect(
    ['T stdout P a', 'T stdout F b'].map((line) => writtenText(parseCriLine(line) as CriLogPart)),
  ).toEqual(['a', 'b\n'])
})
