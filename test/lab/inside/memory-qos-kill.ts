// kill -9 at random points of a reconcile pass on a real kernel: a process of its own makes the pass, dies, and the next one
// brings every file to its value.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import type { MemoryQosSettings } from '../../../src/core/memory-qos/settings.js'
import type { TargetsInput } from '../../../src/core/memory-qos/targets.js'
import type { CgroupTree } from '../../../src/ports/cgroups.js'
import { createRandom } from '../../fuzz/random.js'
import type { Check } from '../../support/check.js'
import {
  cgroups,
  client,
  driver,
  expectPlan,
  gateOff,
  hard,
  type LabPod,
  newEngine,
  nodeInput,
  none,
  podOf,
  signal,
  startPod,
  text,
  tiered,
} from './memory-qos-node.js'

const amounts = (request: string, limit: string) => ({
  requests: { memory: request },
  limits: { memory: limit },
})
const pods = [
  podOf('db', { containers: [{ name: 'app', resources: { limits: { memory: '48Mi', cpu: '100m' } } }] }),
  podOf('web', {
    containers: [
      { name: 'app', resources: amounts('32Mi', '96Mi') },
      { name: 'side', resources: amounts('10Mi', '50Mi') },
    ],
  }),
  podOf('batch', { containers: [{ name: 'job' }] }),
]
const settings = { tiered, hard, none, gateOff } satisfies Record<string, MemoryQosSettings>
type SettingsName = keyof typeof settings
const inputOf = (name: SettingsName): TargetsInput => ({ ...nodeInput(settings[name]), pods })

const roleVariable = 'LAB_PASS'
const role = process.env[roleVariable] as SettingsName | undefined
if (role !== undefined) {
  // Everything but the pass itself comes first, so that the points are drawn from the pass.
  await client().runtime.listContainers({})
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  // One mark before each change, so that the points can be drawn from all of the pass and not from its longest call.
  const mark = (): void => void writeSync(1, '.')
  const marked = Object.create(cgroups) as CgroupTree
  marked.apply = (at, values, given) => {
    mark()
    return cgroups.apply(at, values, given)
  }
  const { runtime } = client()
  const report = await newEngine({
    cgroups: marked,
    runtime: {
      listContainers: (request, options) => runtime.listContainers(request, options),
      updateContainerResources: (request, options) => {
        mark()
        return runtime.updateContainerResources(request, options)
      },
    },
  }).pass(inputOf(role), { signal })
  process.stdout.write(`done ${report.failures}\n`)
  process.exit(0)
}

interface Worker {
  readonly child: ChildProcess
  says(word: string): Promise<void>
  /** Changes that have begun. */
  marks(): number
  readonly ended: Promise<unknown>
}

function startWorker(name: SettingsName): Worker {
  const child = spawn(process.execPath, process.argv.slice(1), {
    env: { ...process.env, [roleVariable]: name },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  const ended = once(child, 'exit')
  child.stdout?.on('data', (data: Buffer) => {
    output += data.toString()
  })
  return {
    child,
    ended,
    marks: () => output.split('.').length - 1,
    async says(word) {
      const until = AbortSignal.timeout(60_000)
      while (!output.includes(word)) {
        assert.equal(child.exitCode, null, `the worker ended before it said ${word}: ${output}`)
        await once(child.stdout ?? child, 'data', { signal: until })
      }
    },
  }
}

/** Not a timer: those are a millisecond at best, and a write is much shorter. */
async function waitMicros(micros: number): Promise<void> {
  const end = process.hrtime.bigint() + BigInt(Math.round(micros)) * 1000n
  while (process.hrtime.bigint() < end)
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
}

const ours = ['memory.min', 'memory.low', 'memory.high'] as const
const snapshot = (): string =>
  cgroups
    .walk(running[0]?.path.split('/').slice(0, 2).join('/') ?? '/')
    .flatMap((at) => ours.map((file) => `${at} ${file} ${text(at, file)}`))
    .join('\n')

const running: LabPod[] = []
const order: readonly SettingsName[] = [
  'hard',
  'tiered',
  'gateOff',
  'hard',
  'none',
  'tiered',
  'hard',
  'gateOff',
]

export const checks: readonly Check[] = [
  {
    name: 'kill -9 at random points of a pass: the next one ends in exactly the expected state',
    timeoutMs: 900_000,
    async run() {
      const random = createRandom(driver() === 'systemd' ? 20261116 : 20261115)
      for (const pod of pods) running.push(await startPod(pod))
      await newEngine().pass(inputOf('tiered'), { signal })
      // How many changes a whole pass makes here.
      const probe = startWorker('hard')
      await probe.says('ready')
      probe.child.stdin?.write('go\n')
      await probe.says('done 0')
      await probe.ended
      const changes = probe.marks()
      await newEngine().pass(inputOf('gateOff'), { signal })
      const rounds = Number(process.env['LAB_KILLS'] ?? '25')
      const cuts = { before: 0, inside: 0, after: 0 }
      for (let round = 0; round < rounds; round++) {
        const name = order[round % order.length] ?? 'tiered'
        const was = snapshot()
        const worker = startWorker(name)
        await worker.says('ready')
        worker.child.stdin?.write('go\n')
        const after = random.below(changes + 1)
        while (worker.marks() < after && worker.child.exitCode === null) await waitMicros(50)
        await waitMicros(random.below(20_000))
        worker.child.kill('SIGKILL')
        await worker.ended
        const left = snapshot()
        const report = await newEngine().pass(inputOf(name), { signal })
        assert.equal(report.failures, 0, JSON.stringify(report.findings))
        await expectPlan(inputOf(name))
        const whole = snapshot()
        cuts[left === was ? 'before' : left === whole ? 'after' : 'inside']++
      }
      for (const pod of running) await pod.remove()
      assert.ok(cuts.inside >= rounds / 5, `only ${cuts.inside} of ${rounds} fell into the writes`)
      return { rounds, changes, ...cuts }
    },
  },
]
