import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { isKeelsonError } from '../../core/errors.js'
import { addServerOptions } from '../server-flags.js'
import { type CriFlags, checkFlags } from './options.js'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-cri-options-'))
  mkdirSync(join(dir, 'run'))
  symlinkSync(join(dir, 'run'), join(dir, 'var-run'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const serverFlags = addServerOptions(new Command('cri'), 'cri').opts()
const check = (flags: Partial<CriFlags>) =>
  checkFlags(
    {
      ...(serverFlags as CriFlags),
      runtimeEndpoint: 'unix:///run/containerd/containerd.sock',
      listen: 'unix:///run/keelson/cri.sock',
      mode: 'complete',
      values: 'repair',
      logFormat: 'text',
      v: '0',
      ...flags,
    },
    {},
  )

describe('flags of keelson cri that are refused by name', () => {
  const at = (path: string): string => `unix://${join(dir, path)}`
  const refused: readonly [flags: () => Partial<CriFlags>, says: RegExp][] = [
    [
      () => ({ listen: at('x.sock'), runtimeEndpoint: at('x.sock') }),
      /--listen .*x\.sock: that is --runtime-endpoint/,
    ],
    [() => ({ listen: at('x.sock'), runtimeEndpoint: join(dir, 'x.sock') }), /that is --runtime-endpoint/],
    [
      () => ({ listen: at('run/x.sock'), runtimeEndpoint: at('var-run/x.sock') }),
      /that is --runtime-endpoint/,
    ],
    [() => ({ listen: at('i.sock'), imageEndpoint: at('i.sock') }), /that is --image-endpoint/],
    [
      () => ({ runtimeEndpoint: 'tcp://1.2.3.4:5' }),
      /^--runtime-endpoint tcp:.*not supported; write it as unix:/,
    ],
    [() => ({ imageEndpoint: 'x' }), /^--image-endpoint x: .*not absolute/],
    [() => ({ listen: 'tcp://x' }), /^--listen tcp:/],
    [() => ({ values: 'guess' }), /^--values guess: use repair, kernel or trust/],
    [() => ({ v: 'loud' }), /^--v loud: use a number/],
    [() => ({ cgroupMount: dir }), /^--cgroup-mount .*no cgroup v2 is mounted there/],
    [() => ({ procMount: dir }), /^--proc-mount .*no proc is mounted there/],
  ]
  for (const [i, [flags, says]] of refused.entries())
    test(`${i}: ${says.source}`, () => {
      assert.throws(
        () => check(flags()),
        (e) => isKeelsonError(e) && e.code === 'usage.invalid' && says.test(e.message),
      )
    })

  test('valid flags are accepted', () => {
    const options = check({ procMount: '/proc', v: '4' })
    assert.deepEqual([options.isDebug, options.listen], [true, 'unix:///run/keelson/cri.sock'])
  })
})
