import type { ClientHttp2Session } from 'node:http2'
import { expect, test } from 'vitest'
import { createWindowKeeper, firstWindowBytes } from './proxy-window.js'

const session = (): { session: ClientHttp2Session; windows: number[] } => {
  const windows: number[] = []
  const told = { settings: (s: { initialWindowSize: number }) => windows.push(s.initialWindowSize) }
  return { session: told as unknown as ClientHttp2Session, windows }
}

test('the more calls, the less may be sent ahead for each, and the less may wait in its caller', () => {
  const told = session()
  const keeper = createWindowKeeper(told.session)
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
