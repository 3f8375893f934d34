// `keelson lab run` killed at 20 moments of its life, from before the supervisor is up until the command is running:
// within 5 s there is no process, mount, namespace or temporary file of it.
import assert from 'node:assert/strict'
import { rmdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { needsOf } from '../../src/lab/packages.js'
import { buildCommandLine, removeCommandLine, startLabRun } from '../support/lab-command.js'
import { isClean, keptNamespaces, leftoversOf } from '../support/leftovers.js'
import { requires } from '../support/requirements.js'

const cleanWithinMs = 5000

/** The spans cover start, boot and command; each is divided evenly and a moment is drawn from each piece. */
const plans = [
  { machine: 'uml', args: [], moments: 10, spanMs: 5000 },
  { machine: 'uml', args: ['--containerd'], moments: 4, spanMs: 9000 },
  { machine: 'uml-systemd', args: [], moments: 3, spanMs: 9000 },
  { machine: 'qemu', args: [], moments: 3, spanMs: 18_000 },
] as const

async function killAt(args: readonly string[], ms: number): Promise<{ cleanAfterMs: number }> {
  const namespaces = keptNamespaces()
  const run = startLabRun([...args, '--timeout', '120', '--', 'sleep', '1000'])
  await Promise.race([sleep(ms), run.ended])
  // By then there is something to find; a search that finds nothing now proves nothing later.
  if (ms > 1500) assert.ok(leftoversOf(run.dir).files.length > 0 && leftoversOf(run.dir).processes.length > 1)
  run.child.kill('SIGKILL')
  const killed = performance.now()
  assert.equal((await run.ended).signal, 'SIGKILL', `ended before it was killed: ${run.stderr()}`)
  let left = leftoversOf(run.dir)
  while (!isClean(left) && performance.now() - killed < cleanWithinMs) {
    await sleep(50)
    left = leftoversOf(run.dir)
  }
  const cleanAfterMs = Math.round(performance.now() - killed)
  assert.deepEqual(left, { processes: [], mounts: [], files: [] }, `killed after ${ms} ms`)
  assert.deepEqual(keptNamespaces(), namespaces)
  rmdirSync(run.dir)
  return { cleanAfterMs }
}

beforeAll(buildCommandLine)
afterAll(removeCommandLine)

describe('lab run killed with SIGKILL leaves nothing', () => {
  for (const { machine, args, moments, spanMs } of plans)
    for (let i = 0; i < moments; i++) {
      const ms = Math.round(((i + Math.random()) / moments) * spanMs)
      test(`${machine} ${args.join(' ')} moment ${i + 1} of ${moments}`, {
        timeout: 120_000,
      }, async (ctx) => {
        requires(ctx, { root: true, packages: needsOf(machine, args.length > 0) })
        const { cleanAfterMs } = await killAt(['--machine', machine, ...args], ms)
        console.log(`${machine} ${args.join(' ')}: killed after ${ms} ms, clean ${cleanAfterMs} ms later`)
      })
    }
})
