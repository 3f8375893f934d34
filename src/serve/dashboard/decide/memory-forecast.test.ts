import { expect, test } from 'vitest'
import { MiB } from '../../../core/units/bytes.js'
import { decideMemoryForecast, type MemoryForecastInput } from './memory-forecast.js'

const rows: readonly [string, MemoryForecastInput, string, RegExp][] = [
  [
    'far below everything',
    { usage: 50n * MiB, high: 190n * MiB, max: 200n * MiB },
    'calm',
    /^140Mi below memory.high 190Mi/,
  ],
  [
    'near memory.high',
    { usage: 180n * MiB, high: 190n * MiB, max: 200n * MiB },
    'watch',
    /^10Mi until it is throttled/,
  ],
  [
    'throttled',
    { usage: 189n * MiB, high: 190n * MiB, throttlesPerSecond: 3 },
    'act',
    /^throttled now at memory.high 190Mi/,
  ],
  ['throttled further down', { usage: MiB, throttlesPerSecond: 1 }, 'act', /a cgroup inside/],
  ['above memory.high', { usage: 191n * MiB, high: 190n * MiB }, 'act', /^above memory.high/],
  ['near a limit without high', { usage: 95n * MiB, max: 100n * MiB }, 'watch', /^5Mi until its limit/],
  ['at the limit', { usage: 99n * MiB, max: 100n * MiB }, 'act', /^at its limit 100Mi/],
  [
    'within memory.min',
    { usage: 10n * MiB, min: 16n * MiB, max: 100n * MiB },
    'calm',
    /^protected: all of it/,
  ],
  ['within memory.low', { usage: 10n * MiB, low: 16n * MiB }, 'calm', /^protected by memory.low 16Mi/],
  ['limit only', { usage: 10n * MiB, max: 100n * MiB }, 'calm', /^90Mi below its limit/],
  ['no limits or thresholds', { usage: 10n * MiB, min: 0n, low: 0n }, 'calm', /^no limits or thresholds/],
]

test.each(rows)('%s', (_, input, level, text) => {
  const next = decideMemoryForecast(input)
  expect(next.level).toBe(level)
  expect(next.text).toMatch(text)
})
