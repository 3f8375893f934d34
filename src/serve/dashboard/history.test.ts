import { expect, test } from 'vitest'
import { pod, snapshot, values } from '../../../test/top/snapshots.js'
import type { LivePod } from '../../core/dashboard/model.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import { createHistory, historyMoments, historyStepMs, startHistory } from './history.js'

const MiB = 1024 * 1024
const at = (second: number, pods: readonly LivePod[]) =>
  snapshot(pods, { time: new Date(second * 1000).toISOString() })
const web = (usageMiB: number): LivePod => pod('demo', 'web', { values: values({ usageMiB }) })

test('an hour is kept, oldest first, and no more', () => {
  const history = createHistory()
  for (let i = 1; i <= historyMoments + 30; i++) history.add(at(i * 30, [web(i)]))
  const track = history.track(web(0).id)
  expect(track.times).toHaveLength(historyMoments)
  expect(track.times[0]).toBe(31 * 30)
  expect(track.times.at(-1)).toBe((historyMoments + 30) * 30)
  // The fixture's working set is 2 MiB below its usage.
  expect(track.values.workingSet[0]).toBeCloseTo(29 * MiB, -3)
  expect(history.track().values.workingSet.at(-1)).toBeCloseTo((historyMoments + 28) * MiB, -3)
})

test('what is not known is null and not 0, also in the sum of the node', () => {
  const history = createHistory()
  const unknown = pod('demo', 'web', {
    values: { cpu: null, memory: null, pressure: null, io: null },
    network: null,
  })
  history.add(at(30, [unknown]))
  for (const track of [history.track(unknown.id), history.track()])
    for (const key of ['workingSet', 'throttles', 'received', 'read'] as const)
      expect(track.values[key], key).toEqual([null])
})

test('a pod that came later has a gap before it; one that is gone is forgotten', () => {
  const history = createHistory()
  history.add(at(30, [web(10)]))
  const late = pod('demo', 'late', { values: values({ usageMiB: 5 }) })
  history.add(at(60, [late]))
  expect(history.track(web(10).id).times).toEqual([])
  expect(history.track(late.id).times).toEqual([30, 60])
  expect(history.track(late.id).values.workingSet).toEqual([null, 3 * MiB])
})

test('samples rarely by itself; while a dashboard is open it takes what that reads; ends with the process', async () => {
  const clock = new FakeClock()
  const over = new AbortController()
  const taken: string[] = []
  const hub = {
    watchers: 0,
    async snapshot() {
      taken.push('hub')
      return at(taken.length, [])
    },
  }
  const reader = {
    async sample() {
      taken.push('reader')
      if (taken.length === 1) throw new Error('not this time')
      return at(taken.length, [])
    },
  }
  const history = startHistory({ hub, reader, clock, log: new FakeLog(), signal: over.signal })
  await clock.advance(historyStepMs - 1)
  expect(taken).toEqual([])
  await clock.advance(1)
  expect(taken).toEqual(['reader'])
  hub.watchers = 1
  await clock.advance(historyStepMs)
  hub.watchers = 0
  await clock.advance(historyStepMs)
  expect(taken).toEqual(['reader', 'hub', 'reader'])
  expect(history.track().times).toEqual([2, 3])
  over.abort()
  await clock.advance(10 * historyStepMs)
  expect(taken).toHaveLength(3)
})
