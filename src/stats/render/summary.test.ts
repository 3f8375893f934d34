import { expect, test } from 'vitest'
import type { PodSample } from '../sample.js'
import { podSwap } from './summary.js'

type Amounts = readonly [used: bigint, available: bigint | undefined]
const swap = (amounts: Amounts | undefined) =>
  amounts && { timeNanos: 1n, usageBytes: amounts[0], availableBytes: amounts[1] }
const pod = (own: Amounts | undefined, ...containers: readonly (Amounts | undefined)[]): PodSample =>
  ({
    usage: { swap: swap(own) },
    containers: containers.map((c) => ({ usage: { swap: swap(c) } })),
  }) as unknown as PodSample

test('without a value of the pod it is the sum of the containers', () => {
  expect(podSwap(pod(undefined, [1n, 10n], [2n, 20n]))).toMatchObject({ usageBytes: 3n, availableBytes: 30n })
  expect(podSwap(pod(undefined, undefined))).toBeUndefined()
})

test('a pod without a limit of its own has what its containers may use', () => {
  expect(podSwap(pod([4n, undefined], [1n, 10n], [2n, 20n]))).toMatchObject({
    usageBytes: 4n,
    availableBytes: 30n,
  })
  expect(podSwap(pod([4n, 5n], [1n, 10n]))).toMatchObject({ availableBytes: 5n })
})

test('one container without a limit leaves the pod without one', () => {
  expect(podSwap(pod([4n, undefined], [1n, 10n], [2n, undefined]))?.availableBytes).toBeUndefined()
})
