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
      upstream: 'unix:///run/containerd/containerd.sock',
      listen: 'unix:///run/keelson/cri.sock',
      mode: 'complete',
      loggingFormat: 'text',
      v: '0',
      ...flags,
    },
    {},
  )

describe('flags of keelson cri that are refused by name', () => {
  const at = (path: string): string => `unix://${join(dir, path)}`
  const refused: readonly [flags: () => Partial<CriFlags>, says: RegExp][] = [
    [() => ({ listen: at('x.sock'), upstream: at('x.sock') }), /--listen .*x\.sock: that is --upstream/],
    [() => ({ listen: at('x.sock'), upstream: join(dir, 'x.sock') }), /that is --upstream/],
    [() => ({ listen: at('run/x.sock'), upstream: at('var-run/x.sock') }), /that is --upstream/],
    [() => ({ listen: at('i.sock'), imageUpstream: at('i.sock') }), /that is --image-upstream/],
    [() => ({ upstream: 'tcp://1.2.3.4:5' }), /^--upstream tcp:.*not supported; write it as unix:/],
    [() => ({ imageUpstream: 'x' }), /^--image-upstream x: .*not absolute/],
    [() => ({ listen: 'tcp://x' }), /^--listen tcp:/],
    [() => ({ v: 'loud' }), /^--v loud: give a number/],
    [() => ({ cgroupMount: dir }), /^--cgroup-mount .*there is no cgroup v2/],
    [() => ({ procMount: dir }), /^--proc-mount .*there is no proc/],
  ]
  for (const [i, [flags, says]] of refused.entries())
    test(`${i}: ${says.source}`, () => {
      assert.throws(
        () => check(flags()),
        (e) => isKeelsonError(e) && e.code === 'usage.invalid' && says.test(e.message),
      )
    })

  test('what is fine passes', () => {
    const options = check({ procMount: '/proc', v: '4' })
    assert.deepEqual([options.isDebug, options.listen], [true, 'unix:///run/keelson/cri.sock'])
  })
})
