import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { requires } from '../../test/support/requirements.js'
import { formatCpio } from './cpio.js'

test('formatCpio: an independent reader unpacks the same names, bytes and modes', (ctx) => {
  requires(ctx, { commands: ['busybox'] })
  const dir = mkdtempSync(join(tmpdir(), 'keelson-cpio-'))
  const data = Buffer.from(Array.from({ length: 1001 }, (_, i) => i % 256))
  const archive = formatCpio([
    { path: 'bin', mode: 0o755 },
    { path: 'bin/tool', data, mode: 0o750 },
    { path: 'empty', data: new Uint8Array(), mode: 0o600 },
  ])
  try {
    const run = spawnSync('busybox', ['cpio', '-i', '-d'], { cwd: dir, input: archive })
    assert.equal(run.status, 0, run.stderr.toString())
    assert.deepEqual(readFileSync(join(dir, 'bin/tool')), data)
    assert.equal(statSync(join(dir, 'bin/tool')).mode & 0o777, 0o750)
    assert.equal(statSync(join(dir, 'empty')).size, 0)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
