import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'vitest'
import { type GuestPlan, quoteForShell, writeGuest } from './guest.js'
import { machineNames } from './machine.js'

let runDir = ''
beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 'keelson-guest-test-'))
})
afterEach(() => rmSync(runDir, { recursive: true }))

const plan = (over: Partial<GuestPlan> = {}): GuestPlan => ({
  machine: 'uml',
  runDir,
  out: join(runDir, 'out'),
  lower: '/',
  visible: [],
  modules: '/usr/lib/uml/modules/6.1',
  argv: ['true'],
  env: {},
  cwd: '/',
  interactive: false,
  ...over,
})

for (const word of ["it's", '$(reboot)', '`x`', '"', '\\', 'a\nb', '', '*'])
  test(`quoteForShell: ${JSON.stringify(word)} comes out unchanged`, () => {
    const { stdout } = spawnSync('bash', ['-c', `printf %s ${quoteForShell(word)}`], { encoding: 'utf8' })
    assert.equal(stdout, word)
  })

for (const machine of machineNames)
  for (const interactive of [false, true])
    test(`writeGuest: the scripts of ${machine}${interactive ? ' with a console' : ''} are valid bash`, async () => {
      const visible = ["/odd 'path'"]
      await writeGuest(plan({ machine, interactive, visible }))
      for (const name of ['init', 'job']) {
        const { status, stderr } = spawnSync('bash', ['-n', join(runDir, name)], { encoding: 'utf8' })
        assert.equal(status, 0, stderr)
      }
    })

test('writeGuest: words of the user are not in any script', async () => {
  await writeGuest(plan({ argv: ['echo', 'MARK-argv'], env: { A: 'MARK-env' }, cwd: '/MARK-cwd' }))
  for (const name of ['init', 'job']) assert.doesNotMatch(readFileSync(join(runDir, name), 'utf8'), /MARK/)
  assert.equal(readFileSync(join(runDir, 'argv'), 'utf8'), 'echo\0MARK-argv\0')
  assert.equal(readFileSync(join(runDir, 'env'), 'utf8'), 'A=MARK-env\0')
})

test('writeGuest: NUL characters and paths that mount options cannot carry are refused', async () => {
  await assert.rejects(writeGuest(plan({ argv: ['a\0b'] })), { code: 'usage.invalid' })
  await assert.rejects(writeGuest(plan({ out: '/tmp/a,b' })), { code: 'lab.unsupported' })
})
