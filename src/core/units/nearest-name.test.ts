import { expect, test } from 'vitest'
import { didYouMean, editDistance, nearestName } from './nearest-name.js'

const fields = ['cgroupDriver', 'cgroupRoot', 'cgroupsPerQOS', 'port', 'readOnlyPort', 'maxPods']

for (const [typed, found] of [
  ['cgroupDrivr', 'cgroupDriver'],
  ['cgroupdriver', 'cgroupDriver'],
  ['cgroupDirver', 'cgroupDriver'],
  ['cgroup-root', 'cgroupRoot'],
  ['prot', 'port'],
  ['maxPod', 'maxPods'],
  ['somethingElse', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
] as const) {
  test(`${typed.slice(0, 20)} -> ${found}`, () => expect(nearestName(typed, fields)).toBe(found))
}

test('didYouMean is empty when nothing is near', () => {
  expect(didYouMean('zzzzzz', fields)).toBe('')
  expect(didYouMean('prot', fields)).toBe('; did you mean port?')
})

test('distance: swap counts once, the limit cuts off', () => {
  expect(editDistance('ab', 'ba', 5)).toBe(1)
  expect(editDistance('kitten', 'sitting', 5)).toBe(3)
  expect(editDistance('kitten', 'sitting', 2)).toBe(3)
})
