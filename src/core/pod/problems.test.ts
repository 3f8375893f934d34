import { expect, test } from 'vitest'
import { parsePod } from './parse-pod.js'
import { impossibleAmounts, podProblems } from './problems.js'

const pod = (resources: unknown) =>
  parsePod({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', resources }] } })

test('a request above its limit is a note with both amounts', () => {
  const [problem] = podProblems(pod({ requests: { memory: '2Gi' }, limits: { memory: '1Gi' } }))
  expect(problem?.message).toBe('the memory request 2Gi is above its limit 1Gi')
})

test('equal and ordered amounts are no problem', () => {
  expect(podProblems(pod({ requests: { memory: '1024Mi' }, limits: { memory: '1Gi' } }))).toEqual([])
})

test('a pod without containers is said', () => {
  expect(podProblems(parsePod({ spec: {} }))[0]?.message).toMatch(/no containers/)
})

test('a capped binary amount is impossible, a large real one is not', () => {
  expect(impossibleAmounts(pod({ limits: { memory: '99999999999Ei' } }))).toHaveLength(1)
  expect(impossibleAmounts(pod({ limits: { memory: '6Pi' } }))).toEqual([])
})

test('cores that no quota can hold are impossible, a hundred thousand are not', () => {
  expect(impossibleAmounts(pod({ limits: { cpu: '9E' } }))[0]?.message).toBe(
    'the cpu amount is 100000000 or more, which no node has',
  )
  expect(impossibleAmounts(pod({ requests: { cpu: '100k' }, limits: { cpu: '100k' } }))).toEqual([])
})

test('amounts that are impossible only together', () => {
  const half = { limits: { memory: '4Ei' } }
  const containers = [
    { name: 'a', resources: half },
    { name: 'b', resources: half },
  ]
  const problems = impossibleAmounts(parsePod({ metadata: { name: 'p' }, spec: { containers } }))
  expect(problems[0]).toMatchObject({
    path: 'spec.containers',
    message: 'the memory amounts together are 2^63-1 or more, which no node has',
  })
})
