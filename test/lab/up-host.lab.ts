// `keelson up` in its host mode, inside a machine that has root and cgroup v2: the machine is afterwards as it was.
import assert from 'node:assert/strict'
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeImageArchive } from '../../src/lab/images/archive.js'
import { needsOf } from '../../src/lab/packages.js'
import { buildCommandLine, commandFile, removeCommandLine, startLabRun } from '../support/lab-command.js'
import { requires } from '../support/requirements.js'

const needs = { root: true, packages: needsOf('uml', true) }

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

describe('keelson up on a host', () => {
  test('root and cgroup v2: a private containerd, three pods, and the machine as it was', async (ctx) => {
    requires(ctx, needs)
    const script = new URL('./inside/up-host.sh', import.meta.url).pathname
    const files = mkdtempSync(join(tmpdir(), 'keelson-image-tar-'))
    ctx.onTestFinished(() => rmSync(files, { recursive: true }))
    const tar = join(files, 'mine.tar')
    await writeImageArchive(tar, [
      { reference: 'example.com/mine:1', files: [{ path: 'bin', mode: 0o755 }], entrypoint: ['/bin/x'] },
    ])
    const lab = ['--timeout', '400', '--memory', '2048']
    const run = startLabRun([...lab, '--', 'bash', script, commandFile(), tar])
    const { code } = await run.ended
    assert.equal(code, 0, `${run.stdout()}\n${run.stderr()}`)
    expect(run.stdout()).toMatch(/this host \(root on cgroup v2\)/)
    expect(run.stdout()).toMatch(/loaded example\.com\/mine:1 from /)
    expect(run.stdout()).toMatch(/node ready after/)
    expect(run.stdout()).toMatch(/SAME MACHINE/)
    rmdirSync(run.dir)
  })

  test('a runtime that is there already: our pods come and go, the runtime stays', async (ctx) => {
    requires(ctx, needs)
    const script = new URL('./inside/up-endpoint.sh', import.meta.url).pathname
    const run = startLabRun(['--timeout', '400', '--containerd', '--', 'bash', script, commandFile()])
    const { code } = await run.ended
    const said = run.stdout()
    assert.equal(code, 0, `${said}\n${run.stderr()}`)
    expect(said).toMatch(/manifests containers while it runs: 2\n/)
    expect(said).toMatch(/machine +this host \(as requested\)\n.*node ready +1 of 1 pods running/)
    expect(said).toMatch(/manifests containers after: 0\n/)
    expect(said).toMatch(/node ready +no pods\nnothing containers after: 0\n/)
    expect(said).not.toMatch(/left kubepods/)
    expect(said).toMatch(/the runtime answers/)
    rmdirSync(run.dir)
  })
})
