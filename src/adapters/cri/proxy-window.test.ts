import { expect, test } from 'vitest'
import { createWindowKeeper, firstWindowBytes, type Windowed } from './proxy-window.js'

const connection = (): Windowed & { readonly windows: number[] } => {
  const windows: number[] = []
  return { windows, isDestroyed: false, unacknowledged: 0, setWindow: (bytes) => void windows.push(bytes) }
}

test('the more calls, the less may be sent ahead for each, and the less may wait in its caller', () => {
  const told = connection()
  const keeper = createWindowKeeper(told)
  expect(keeper.aheadBytes).toBe(512 * 1024)
  const ahead: number[] = []
  for (let calls = 1; calls <= 512; calls++) {
    keeper.adjust(calls)
    ahead.push(keeper.aheadBytes * calls)
  }
  expect(told.windows).toEqual([1024, 256, 64].map((k) => k * 1024))
  expect(Math.max(...ahead)).toBeLessThanOrEqual(4 * 1024 * 1024)
  for (let calls = 512; calls >= 0; calls--) keeper.adjust(calls)
  expect(told.windows.at(-1)).toBe(firstWindowBytes)
  expect(keeper.aheadBytes).toBe(512 * 1024)
})

test('a window that the runtime has not yet acknowledged is not changed again', () => {
  const told = { ...connection(), unacknowledged: 1 }
  createWindowKeeper(told).adjust(512)
  expect(told.windows).toEqual([])
})
