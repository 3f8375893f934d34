import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { formatYaml } from './get.js'

test('get -o yaml: timestamps are quoted, so that no reader makes dates of them', () => {
  const pod = {
    metadata: {
      creationTimestamp: '2026-11-16T00:00:00Z',
      labels: { day: '2026-11-16', on: 'yes', n: '0755' },
    },
    status: { startTime: '2026-11-16T00:00:01.123456789Z', message: 'word '.repeat(40) },
  }
  const text = formatYaml(pod)
  expect(text).toContain('creationTimestamp: "2026-11-16T00:00:00Z"\n')
  expect(text).toContain('startTime: "2026-11-16T00:00:01.123456789Z"\n')
  expect(text.split('\n')).toHaveLength(10)
  for (const version of ['1.1', '1.2'] as const) expect(parse(text, { version })).toEqual(pod)
})
