import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { changedNanos, mtimeNanos } from './times.js'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-times-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Longer than a tick of the kernel's clock. */
const aMoment = (): Promise<void> => sleep(20)

describe('changedNanos', () => {
  test('a file that was written before and moved into place now has changed now', async () => {
    const [config, prepared] = [join(dir, 'config'), join(dir, 'prepared')]
    writeFileSync(prepared, 'new')
    await aMoment()
    writeFileSync(join(dir, 'start'), '')
    await aMoment()
    renameSync(prepared, config)
    const start = mtimeNanos(join(dir, 'start')) ?? 0n
    assert.ok((mtimeNanos(config) ?? 0n) < start)
    assert.ok((changedNanos(config) ?? 0n) > start)
  })

  test('a content whose time was set back has changed now', async () => {
    const config = join(dir, 'config')
    const before = BigInt(Date.now()) * 1_000_000n - 1_000_000_000n
    writeFileSync(config, 'new')
    utimesSync(config, 1, 1)
    assert.ok((changedNanos(config) ?? 0n) > before)
  })

  test('what a link leads to counts, and the link too', async () => {
    const [config, aim] = [join(dir, 'config'), join(dir, 'aim')]
    writeFileSync(aim, 'old')
    symlinkSync(aim, config)
    const first = changedNanos(config) ?? 0n
    await aMoment()
    writeFileSync(aim, 'new')
    const second = changedNanos(config) ?? 0n
    assert.ok(second > first)
    await aMoment()
    rmSync(config)
    symlinkSync(aim, config)
    assert.ok((changedNanos(config) ?? 0n) > second)
  })

  test('nothing there', () => {
    assert.equal(changedNanos(join(dir, 'none')), undefined)
    assert.equal(mtimeNanos(join(dir, 'none')), undefined)
    symlinkSync(join(dir, 'none'), join(dir, 'dangling'))
    assert.equal(changedNanos(join(dir, 'dangling')), undefined)
  })
})
