import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWindowSizes, parseWindowSize, writeWindowSizes } from './window.js'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-window-test-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('a resize while the machine is being prepared, and those after it, each as a file', async () => {
  const sizes = createWindowSizes()
  sizes.put({ rows: 24, columns: 80 })
  sizes.put({ rows: 30, columns: 100 })
  const stop = writeWindowSizes(sizes, dir)
  sizes.put({ rows: 40, columns: 120 })
  await stop()
  sizes.put({ rows: 1, columns: 1 })
  expect(readdirSync(dir).sort()).toEqual(['window-1', 'window-2'])
  expect(readFileSync(join(dir, 'window-1'), 'utf8')).toBe('30 100\n')
  expect(readFileSync(join(dir, 'window-2'), 'utf8')).toBe('40 120\n')
})

test('a directory that is gone is no failure', async () => {
  const sizes = createWindowSizes()
  const stop = writeWindowSizes(sizes, join(dir, 'gone'))
  sizes.put({ rows: 24, columns: 80 })
  await stop()
})

for (const [line, size] of [
  ['{"rows":24,"columns":80}', { rows: 24, columns: 80 }],
  ['{"rows":0,"columns":80}', undefined],
  ['{"rows":"24; reboot","columns":80}', undefined],
  ['{}', undefined],
] as const)
  test(`size ${line}`, () => expect(parseWindowSize(line)).toEqual(size))
