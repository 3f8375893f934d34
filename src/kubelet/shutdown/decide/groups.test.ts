import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertProperty } from '../../../../test/support/property.js'
import { parsePod } from '../../../core/pod/parse-pod.js'
import { shutdownGroups, shutdownPeriods, wholeTimeSeconds } from './groups.js'

const entry = (name: string, priority?: number) => ({
  pod: parsePod({ metadata: { name, uid: name }, spec: { priority, containers: [{ name: 'c' }] } }),
})
const fields = {
  shutdownGracePeriod: 0,
  shutdownGracePeriodCriticalPods: 0,
  shutdownGracePeriodByPodPriority: [],
}
const names = (groups: ReturnType<typeof shutdownGroups<ReturnType<typeof entry>>>) =>
  groups.map(({ seconds, pods }) => [seconds, pods.map(({ pod }) => pod.name)])

test('regular pods first, critical ones with the time that is kept for them', () => {
  const periods = shutdownPeriods(
    { ...fields, shutdownGracePeriod: 30_000, shutdownGracePeriodCriticalPods: 10_000 },
    true,
  )
  expect(wholeTimeSeconds(periods)).toBe(30)
  const pods = [entry('dns', 2_000_000_000), entry('web'), entry('node', 2_000_001_000), entry('low', -5)]
  expect(names(shutdownGroups(periods, pods))).toEqual([
    [20, ['web', 'low']],
    [10, ['dns', 'node']],
  ])
})

test('by priority: each pod in the highest group that it reaches, groups without pods take no time', () => {
  const shutdownGracePeriodByPodPriority = [
    { priority: 100_000, shutdownGracePeriodSeconds: 10 },
    { priority: 0, shutdownGracePeriodSeconds: 60 },
    { priority: 10_000, shutdownGracePeriodSeconds: 180 },
    { priority: 50_000, shutdownGracePeriodSeconds: 5 },
  ]
  const periods = shutdownPeriods({ ...fields, shutdownGracePeriodByPodPriority }, true)
  const pods = [entry('a', 9_999), entry('b', 10_000), entry('c', 200_000), entry('d', -1)]
  expect(names(shutdownGroups(periods, pods))).toEqual([
    [60, ['a', 'd']],
    [180, ['b']],
    [10, ['c']],
  ])
  expect(shutdownPeriods({ ...fields, shutdownGracePeriodByPodPriority }, false)).toEqual([])
})

test('not configured: a shutdown does not wait', () => {
  expect(shutdownPeriods(fields, true)).toEqual([])
})

test('every pod is in exactly one group, and no group has a lower priority than one before it', () => {
  const period = fc.record({
    priority: fc.integer({ min: -10, max: 10 }),
    shutdownGracePeriodSeconds: fc.nat(100),
  })
  assertProperty(
    fc.property(
      fc.array(period, { minLength: 1 }),
      fc.array(fc.integer({ min: -20, max: 20 })),
      (given, priorities) => {
        const periods = shutdownPeriods({ ...fields, shutdownGracePeriodByPodPriority: given }, true)
        const groups = shutdownGroups(
          periods,
          priorities.map((priority, n) => entry(`p${n}`, priority)),
        )
        const all = groups.flatMap(({ pods }) => pods.map(({ pod }) => pod.name))
        const rising = groups.every((group, n) => n === 0 || group.priority >= (groups[n - 1]?.priority ?? 0))
        return rising && all.length === priorities.length && new Set(all).size === all.length
      },
    ),
    { numRuns: 2000 },
  )
})
