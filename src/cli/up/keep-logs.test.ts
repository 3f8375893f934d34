// The logs of a start that failed outlive its directory.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepLogs } from './keep-logs.js'

let from: string
let cache: string
beforeEach(() => {
  from = mkdtempSync(join(tmpdir(), 'keelson-up-logs-'))
  cache = join(from, 'cache')
})
afterEach(() => rmSync(from, { recursive: true }))

test('the logs of a failed start are still there after it was removed, those of the failure before are not', async () => {
  writeFileSync(join(from, 'old.log'), 'before')
  await keepLogs(from, cache)
  rmSync(join(from, 'old.log'))
  writeFileSync(join(from, 'kubelet.log'), 'why it failed')
  writeFileSync(join(from, 'keelson-token'), 'secret')
  const kept = (await keepLogs(from, cache)) ?? ''
  expect(kept).toBe(join(cache, 'last-up'))
  expect(readdirSync(kept)).toEqual(['kubelet.log'])
  expect(readFileSync(join(kept, 'kubelet.log'), 'utf8')).toBe('why it failed')
  expect(statSync(kept).mode & 0o777).toBe(0o700)
})

test('of a log that is too large, its end', async () => {
  writeFileSync(join(from, 'cri.log'), `${'x'.repeat(5 * 1024 * 1024)}the end`)
  const kept = (await keepLogs(from, cache)) ?? ''
  const text = readFileSync(join(kept, 'cri.log'), 'utf8')
  expect(text.length).toBe(4 * 1024 * 1024)
  expect(text.endsWith('the end')).toBe(true)
})

test('no logs, nothing kept: what an earlier failure left stays', async () => {
  writeFileSync(join(from, 'cri.log'), 'a')
  const kept = (await keepLogs(from, cache)) ?? ''
  rmSync(join(from, 'cri.log'))
  expect(await keepLogs(from, cache)).toBeUndefined()
  expect(await keepLogs(join(from, 'gone'), cache)).toBeUndefined()
  expect(readdirSync(kept)).toEqual(['cri.log'])
})
