import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createSweep, sweepAfterBytes, youngCollection } from './proxy-sweep.js'

test('sweeps once when enough has gone by, after the turn that read it', async () => {
  const collect = vi.fn()
  const sweep = createSweep(collect)
  sweep.count(sweepAfterBytes - 1)
  await nextTurn()
  expect(collect).not.toHaveBeenCalled()
  sweep.count(1)
  sweep.count(sweepAfterBytes)
  expect(collect).not.toHaveBeenCalled()
  await nextTurn()
  expect(collect).toHaveBeenCalledTimes(1)
  sweep.count(sweepAfterBytes - 1)
  await nextTurn()
  expect(collect).toHaveBeenCalledTimes(1)
})

const pieces = 128
const pieceBytes = 64 * 1024

function readAndForget(): number {
  let length = 0
  for (let i = 0; i < pieces; i++) length += new ArrayBuffer(pieceBytes).byteLength
  return length
}

test('what was read and forgotten is given back', async () => {
  expect(youngCollection()).toBeTypeOf('function')
  const sweep = createSweep()
  const before = process.memoryUsage().arrayBuffers
  const read = readAndForget()
  sweep.count(read)
  await nextTurn()
  await vi.waitFor(() => expect(process.memoryUsage().arrayBuffers).toBeLessThan(before + read / 2))
})

test('leaves no gc behind for others', () => {
  const had = 'gc' in globalThis
  youngCollection()
  expect('gc' in globalThis).toBe(had)
})
