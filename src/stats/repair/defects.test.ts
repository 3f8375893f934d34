// The known defects of runtimes: documented, and matched by name and version.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { defects, isKnownDefect } from './defects.js'

describe('the list of defects', () => {
  test('is on the page, each with what is done about it', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/cri-server.md'), 'utf8')
    for (const { name, fix } of defects)
      assert.ok(page.includes(`| \`${name}\` |`) && page.includes(fix), name)
  })

  test('goes by name and major version', () => {
    const of = (version: string) => isKnownDefect({ name: 'containerd', version }, 'slow-pod-stats')
    assert.deepEqual([of('1.6.20~ds1-1'), of('v1.7.0'), of('2.0.0'), of('odd')], [true, true, false, false])
    assert.equal(isKnownDefect(undefined, 'threads-as-processes'), false)
    assert.equal(isKnownDefect(undefined, 'seconds-cut'), true)
  })
})
