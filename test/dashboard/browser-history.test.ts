// What the browser keeps for its charts.
import { expect, test } from 'vitest'
import { trackKeys } from '../../src/core/dashboard/model.js'
import { createHistory, since } from '../../src/dashboard/history.js'
import { pod, snapshot, values } from '../top/snapshots.js'

const web = pod('demo', 'web', { values: values({ usageMiB: 12 }) })
const at = (second: number) => snapshot([web], { time: new Date(second * 1000).toISOString() })

test('an hour of seconds stays small: fine now, coarse before, nothing older', () => {
  const history = createHistory()
  const start = 1_000_000
  for (let i = 0; i < 4000; i++) history.add(at(start + i))
  const track = history.pod(web.id)
  const times = track?.times ?? []
  expect(times.length).toBeLessThan(500)
  expect(times.at(-1)).toBe(start + 3999)
  expect((times[0] ?? 0) >= start + 3999 - 3600 - 60).toBe(true)
  expect(times.slice(-100).every((t, i, all) => i === 0 || t - (all[i - 1] ?? 0) === 1)).toBe(true)
  for (const key of trackKeys) expect(track?.[key], key).toHaveLength(times.length)
  expect(times.toSorted((a, b) => a - b)).toEqual(times)
})

test('what the server kept comes before, without doubles', () => {
  const history = createHistory()
  history.add(at(1000))
  history.add(at(1001))
  const column = [1, 2, 3]
  history.addOlder(web.id, {
    times: [940, 970, 1000],
    values: Object.fromEntries(trackKeys.map((key) => [key, column])) as never,
  })
  const track = history.pod(web.id)
  expect(track?.times).toEqual([940, 970, 1000, 1001])
  expect(track?.cpu.slice(0, 2)).toEqual([1, 2])
  expect(track === undefined ? [] : since(track, 31).times).toEqual([970, 1000, 1001])
  history.addOlder('gone', { times: [1], values: {} as never })
  expect(history.pod('gone')).toBeUndefined()
})
