import { expect, test } from 'vitest'
import { createWaitingRoom } from './waiting-room.js'

const lost = (places: readonly { readonly taken: AbortSignal }[]): number[] =>
  places.flatMap(({ taken }, i) => (taken.aborted ? [i] : []))

test.each([
  ['room for all', ['a', 'a', 'b'], []],
  ['a crowd from one address loses its own oldest', ['a', 'a', 'a', 'a', 'a'], [0, 1]],
  ['somebody else costs the crowd a place', ['a', 'a', 'a', 'b', 'c'], [0, 1]],
  ['the crowd costs nobody else a place', ['b', 'a', 'a', 'a', 'a'], [1, 2]],
  ['one each: the first address gives way', ['a', 'b', 'c', 'd'], [0]],
] as const)('three places, %s', (_, addresses, expected) => {
  const room = createWaitingRoom(3, () => new Error('full'))
  expect(lost(addresses.map((address) => room.enter(address)))).toEqual(expected)
})

test('a place that was left or lost is free once, however often it is left', () => {
  const room = createWaitingRoom(1, () => new Error('full'))
  const first = room.enter('a')
  first.leave()
  first.leave()
  const second = room.enter('a')
  const third = room.enter('b')
  expect(lost([first, second, third])).toEqual([1])
  second.leave()
  const fourth = room.enter('b')
  expect(lost([first, second, third, fourth])).toEqual([1, 2])
})
