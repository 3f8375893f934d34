import { expect, test } from 'vitest'
import { createStreamWindow, firstWindowBytes, type Windowed } from './window.js'

const connection = (): Windowed & { readonly windows: number[] } => {
  const windows: number[] = []
  return {
    windows,
    destroyed: false,
    connecting: false,
    pendingSettingsAck: false,
    settings: ({ initialWindowSize = 0 }) => void windows.push(initialWindowSize),
  }
}

test('the more calls, the less may be sent ahead for each, and the less may wait in its caller', () => {
  const told = connection()
  const window = createStreamWindow(told)
  expect(window.aheadBytes).toBe(512 * 1024)
  const ahead: number[] = []
  for (let calls = 1; calls <= 512; calls++) {
    window.adjust(calls)
    ahead.push(window.aheadBytes * calls)
  }
  expect(told.windows).toEqual([1024, 256, 64, 32].map((k) => k * 1024))
  expect(Math.max(...ahead)).toBeLessThanOrEqual(4 * 1024 * 1024)
  for (let calls = 512; calls >= 0; calls--) window.adjust(calls)
  expect(told.windows.at(-1)).toBe(firstWindowBytes)
  expect(window.aheadBytes).toBe(512 * 1024)
})

test('a window that the runtime has not yet acknowledged is not changed again', () => {
  const told = { ...connection(), pendingSettingsAck: true }
  createStreamWindow(told).adjust(512)
  expect(told.windows).toEqual([])
})
