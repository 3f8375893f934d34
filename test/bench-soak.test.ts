// What `npm run bench -- soak` judges, from samples made up here.
import { expect, test } from 'vitest'
import { rssSlope, type Sample, soakTargets } from '../bench/soak/samples.js'

const sample = (lives: number, heapMiB: number, descriptors: number): Sample => ({
  lives,
  heapMiB,
  codeMiB: 10,
  descriptors,
  rssMiB: 80 + lives / 100,
})

test('a heap or descriptors that grow with the pods are a missed target', () => {
  const flat = [sample(200, 30, 50), sample(400, 33, 52), sample(600, 31, 51)]
  expect(soakTargets('kubelet', flat).map(({ met }) => met)).toEqual([true, true])
  const growing = [sample(200, 30, 50), sample(400, 33, 90), sample(600, 36, 130)]
  expect(soakTargets('kubelet', growing).map(({ measured, met }) => [measured, met])).toEqual([
    ['6.0 MiB', false],
    ['80', false],
  ])
})

test('the slope of resident memory is for a thousand pods', () => {
  expect(rssSlope([sample(200, 1, 1), sample(400, 1, 1), sample(600, 1, 1)])).toBeCloseTo(10)
})
