// The contract of `keelson lab run` itself: status, output, arguments, time limit, signals, side by side.
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { labRequest, runLab } from '../../src/lab/run-machine.js'
import { buildCommandLine, type LabCommand, removeCommandLine, startLabRun } from '../support/lab-command.js'
import { leftoversOf, processesNaming } from '../support/leftovers.js'
import { requires } from '../support/requirements.js'

const nothing = { processes: [], mounts: [], files: [] }
const uml = { packages: ['uml'] } as const

async function finish(run: LabCommand): Promise<number | null> {
  const { code } = await run.ended
  assert.deepEqual(leftoversOf(run.dir), nothing, run.stderr())
  rmSync(run.dir, { recursive: true })
  return code
}

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

describe('lab run', () => {
  test('returns the status and keeps output and error output apart', async (ctx) => {
    requires(ctx, uml)
    const run = startLabRun(['--', 'sh', '-c', 'echo to-out; echo to-err >&2; exit 7'])
    assert.equal(await finish(run), 7)
    assert.equal(run.stdout(), 'to-out\n')
    assert.equal(run.stderr(), 'to-err\n')
  })

  test('passes every argument and variable unchanged', async (ctx) => {
    requires(ctx, uml)
    const odd = ['a b', "it's", '"$HOME"', '$(reboot)', 'line\nbreak', '', '--', '*', '\\', 'ünï']
    const script = 'console.log(JSON.stringify([process.argv.slice(1), process.env.ODD]))'
    const run = startLabRun(['--env', "ODD=x'; $(y) z", '--', 'node', '-e', script, '--', ...odd])
    assert.equal(await finish(run), 0, run.stderr())
    assert.deepEqual(JSON.parse(run.stdout()), [odd, "x'; $(y) z"])
  })

  test('streams a megabyte of bytes without loss', async (ctx) => {
    requires(ctx, uml)
    const run = startLabRun(['--', 'node', '-e', "process.stdout.write('0123456789abcde\\n'.repeat(65536))"])
    assert.equal(await finish(run), 0, run.stderr())
    assert.equal(run.stdout(), '0123456789abcde\n'.repeat(65536))
  })

  test('ends with 124 when the time is up', async (ctx) => {
    requires(ctx, uml)
    const run = startLabRun(['--timeout', '5', '--', 'sleep', '100'])
    assert.equal(await finish(run), 124)
    assert.match(run.stderr(), /did not finish within 5 s/)
  })

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    test(`ends with ${status} on ${signal}, and nothing is left when it returns`, async (ctx) => {
      requires(ctx, uml)
      const run = startLabRun(['--', 'sleep', '100'])
      await sleep(4000)
      run.child.kill(signal)
      assert.equal(await finish(run), status)
    })

  test('a command that does not exist is 127', async (ctx) => {
    requires(ctx, uml)
    assert.equal(await finish(startLabRun(['--', 'no-such-command'])), 127)
  })

  test('a machine that cannot boot is an error with the console’s last lines', async (ctx) => {
    requires(ctx, uml)
    const run = startLabRun(['--memory', '8', '--', 'true'])
    assert.equal(await finish(run), 1)
    assert.match(run.stderr(), /\[lab\.boot\]/)
  })

  test('a containerd that cannot be set up inside is one message, and no stack', async (ctx) => {
    requires(ctx, { root: true, packages: needsOf('uml', true) })
    const stderr = new PassThrough()
    let text = ''
    stderr.on('data', (data: Buffer) => (text += data.toString()))
    const outcome = await runLab(
      labRequest({ argv: ['true'], containerd: { archives: ['/etc/hostname'] }, timeoutS: 120 }),
      { stdout: new PassThrough().resume(), stderr },
    )
    assert.deepEqual(outcome, { kind: 'exit', code: 1 })
    assert.match(text, /^keelson lab: inside the machine: ctr .* \[lab\.program\]$/ms)
    assert.doesNotMatch(text, /^ +at /m)
  })

  test('killing the supervisor itself ends the machine, and the run says so', async (ctx) => {
    requires(ctx, uml)
    const run = startLabRun(['--', 'sleep', '100'])
    await sleep(4000)
    const supervisor = processesNaming(run.dir).find((p) => {
      const pid = p.split(' ')[0] ?? ''
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0supervise')
    })
    process.kill(Number.parseInt(supervisor ?? '', 10), 'SIGKILL')
    assert.equal((await run.ended).code, 1)
    assert.match(run.stderr(), /\[lab\.boot\]/)
    for (let i = 0; i < 40 && processesNaming(run.dir).length > 0; i++) await sleep(50)
    assert.deepEqual(processesNaming(run.dir), [])
    rmSync(run.dir, { recursive: true })
  })

  test('two runs side by side do not disturb each other', async (ctx) => {
    requires(ctx, uml)
    const runs = ['one', 'two'].map((word) => startLabRun(['--', 'sh', '-c', `sleep 1; echo ${word}`]))
    assert.deepEqual(await Promise.all(runs.map(finish)), [0, 0])
    assert.deepEqual(
      runs.map((r) => r.stdout()),
      ['one\n', 'two\n'],
    )
  })
})
