// `keelson companion` as a process of its own beside an independent pod runner on a real kernel: applies, survives restarts and
// resets by others, is killed at random points of applying and rolling back, and takes everything back exactly.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { processIo } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import { parseActuatedPod } from '../../../src/core/actuated-pod.js'
import { formatCgroupPath } from '../../../src/core/cgroup-name.js'
import type { TargetsInput } from '../../../src/core/memory-qos-targets.js'
import type { CgroupTree } from '../../../src/ports/cgroups.js'
import { createRandom } from '../../fuzz/random.js'
import { type ApiStub, startApiStub } from '../../memory-qos/api-stub.js'
import type { Check } from '../../support/check.js'
import {
  cgroups,
  driver,
  expectPlan,
  hard,
  type LabPod,
  mib,
  newEngine,
  nodeInput,
  signal,
  startPod,
  text,
} from './memory-qos-node.js'
import { endpoint } from './pod.js'

/** The same bundle is the command line when it is started again with this variable. */
const roleVariable = 'LAB_COMPANION_ARGS'
const given = process.env[roleVariable]
if (given !== undefined) {
  const io = processIo()
  await run(JSON.parse(given) as string[], io)
  process.exit(io.exitCode)
}

const amounts = (request: string, limit: string) => ({
  requests: { memory: request },
  limits: { memory: limit },
})
const apiPod = (name: string, spec: object, status: object): object => ({
  metadata: { name, namespace: 'lab', uid: `lab-${name}` },
  spec,
  status: { phase: 'Running', ...status },
})
const web = (status: object = {}): object =>
  apiPod(
    'web',
    {
      containers: [{ name: 'app', resources: amounts('32Mi', '96Mi') }],
      ephemeralContainers: [{ name: 'debug' }],
    },
    { qosClass: 'Burstable', ...status },
  )
const db = apiPod(
  'db',
  {
    containers: [{ name: 'app', resources: { limits: { memory: '48Mi', cpu: '100m' } } }],
    ephemeralContainers: [{ name: 'debug' }],
  },
  { qosClass: 'Guaranteed' },
)

const kubepods = formatCgroupPath(['kubepods'], driver())
const burstable = formatCgroupPath(['kubepods', 'burstable'], driver())
const running: LabPod[] = []
let stub: ApiStub | undefined
let first: Record<string, string> = {}
let stateDir = ''

const api = (): ApiStub => {
  assert.ok(stub)
  return stub
}

const inputNow = (): TargetsInput => ({
  ...nodeInput(hard),
  pods: [...api().pods.values()].map((object) => parseActuatedPod(object)),
})

/** Every file that the companion may write, and limits that it must not. */
const everything = (): Record<string, string> =>
  Object.fromEntries(
    cgroups
      .walk(kubepods)
      .flatMap((at) =>
        ['memory.min', 'memory.low', 'memory.high', 'memory.max', 'cpu.weight', 'pids.max'].map((file) => [
          `${at} ${file}`,
          text(at, file) ?? '',
        ]),
      ),
  )

interface Started {
  readonly child: ChildProcess
  output(): string
  readonly ended: Promise<unknown>
}

function start(...args: readonly string[]): Started {
  const child = spawn(process.execPath, process.argv.slice(1), {
    env: {
      ...process.env,
      [roleVariable]: JSON.stringify([
        'companion',
        ...args,
        '--state-dir',
        stateDir,
        '--container-runtime-endpoint',
        endpoint(),
      ]),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      output += data.toString()
    })
  return { child, output: () => output, ended: once(child, 'exit') }
}

const source = (): string[] => [
  '--keelson-config',
  `${stateDir}/keelson.yaml`,
  '--kubelet-config',
  `${stateDir}/kubelet.yaml`,
  '--period',
  '2',
]
const fromKubelet = (): string[] => [...source(), '--kubelet-url', api().url]
const fromApi = (): string[] => [
  ...source(),
  '--pods-from',
  'api',
  '--kubeconfig',
  `${stateDir}/kubeconfig`,
  '--node-name',
  'n1',
]

async function converges(companion: Started): Promise<void> {
  let last: unknown
  for (const end = Date.now() + 40_000; Date.now() < end; await sleep(250)) {
    try {
      await expectPlan(inputNow())
      return
    } catch (e) {
      last = e
    }
  }
  assert.fail(`${String(last)}\n${companion.output()}`)
}

async function end(companion: Started): Promise<void> {
  companion.child.kill('SIGTERM')
  await companion.ended
}

async function rollback(): Promise<string> {
  const undo = start('rollback')
  await undo.ended
  assert.equal(undo.child.exitCode, 0, undo.output())
  return undo.output()
}

const random = createRandom(20260817)

export const checks: readonly Check[] = [
  {
    name: 'pods of another runner, tuned by somebody',
    timeoutMs: 120_000,
    async run() {
      stub = await startApiStub()
      stateDir = mkdtempSync('/tmp/companion-')
      mkdirSync(stateDir, { recursive: true })
      writeFileSync(
        `${stateDir}/keelson.yaml`,
        'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nports: {companion: 0}\ncompanion: {memoryReservationPolicy: HardReservation}\n',
      )
      writeFileSync(
        `${stateDir}/kubelet.yaml`,
        'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
      )
      writeFileSync(
        `${stateDir}/kubeconfig`,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          clusters: [{ name: 'c', cluster: { server: stub.url } }],
          users: [{ name: 'u', user: {} }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      )
      for (const [uid, object] of [
        ['lab-web', web()],
        ['lab-db', db],
      ] as const) {
        stub.put(uid, object)
        running.push(await startPod(parseActuatedPod(object)))
      }
      await cgroups.apply(kubepods, { 'memory.min': mib(8) })
      await cgroups.apply(burstable, { 'memory.high': mib(600) })
      first = everything()
    },
  },
  {
    name: 'pods from /pods: applied, with debug containers; found values stay over a restart; rolled back exactly',
    timeoutMs: 200_000,
    async run() {
      const companion = start(...fromKubelet())
      await converges(companion)
      assert.equal(text(kubepods, 'memory.min'), mib(80))
      await end(companion)
      assert.notDeepEqual(everything(), first)
      const again = start(...fromKubelet())
      await converges(again)
      await end(again)
      await rollback()
      assert.deepEqual(everything(), first)
    },
  },
  {
    name: 'pods from the API server: resets by others put back, a pod resized through its status, expiry and disconnects',
    timeoutMs: 200_000,
    async run() {
      const companion = start(...fromApi())
      await converges(companion)
      cgroups.write(kubepods, 'memory.min', '0')
      await converges(companion)
      api().endWatches('torn')
      const resources = amounts('64Mi', '96Mi')
      api().put('lab-web', web({ containerStatuses: [{ name: 'app', resources }] }))
      await converges(companion)
      assert.equal(text(kubepods, 'memory.min'), mib(112))
      api().endWatches('expired')
      api().put('lab-web', web())
      await converges(companion)
      assert.equal(text(kubepods, 'memory.min'), mib(80))
      await end(companion)
      await rollback()
      assert.deepEqual(everything(), first)
    },
  },
  {
    name: 'a second companion and a rollback beside a running one are refused',
    timeoutMs: 100_000,
    async run() {
      const companion = start(...fromKubelet())
      await converges(companion)
      for (const args of [fromKubelet(), ['rollback']]) {
        const second = start(...args)
        await second.ended
        assert.match(second.output(), /companion\.busy/)
      }
      await end(companion)
      await rollback()
      assert.deepEqual(everything(), first)
    },
  },
  {
    name: 'kill -9 at random points of applying and of rolling back: the next start converges',
    timeoutMs: 900_000,
    async run() {
      const rounds = Number(process.env['LAB_KILLS'] ?? '13')
      // How long a start takes here until it writes, and how long it writes: the points are drawn from that.
      const probe = start(...fromKubelet())
      const began = Date.now()
      while (JSON.stringify(everything()) === JSON.stringify(first) && Date.now() - began < 30_000)
        await sleep(5)
      const untilFirstWrite = Date.now() - began
      await converges(probe)
      await end(probe)
      let cutApplies = 0
      let cutRollbacks = 0
      for (let round = 0; round < rounds; round++) {
        const undo = start('rollback')
        await Promise.race([undo.ended, sleep(untilFirstWrite * 0.6 + random.below(600))])
        if (undo.child.exitCode === null) {
          undo.child.kill('SIGKILL')
          await undo.ended
          cutRollbacks++
        }
        await rollback()
        assert.deepEqual(everything(), first, `rollback killed in round ${round}`)
        const companion = start(...fromKubelet())
        await sleep(untilFirstWrite + random.below(500) - 150)
        companion.child.kill('SIGKILL')
        await companion.ended
        cutApplies++
        const again = start(...fromKubelet())
        await converges(again)
        await end(again)
      }
      await rollback()
      assert.deepEqual(everything(), first)
      return { rounds, cutApplies, cutRollbacks, untilFirstWrite }
    },
  },
  {
    name: 'the owner’s reconcile, cut short at every write, converges with the next pass',
    timeoutMs: 300_000,
    async run() {
      let points = 0
      for (let budget = 0; budget < 30; budget++) {
        let left = budget
        const stop = new AbortController()
        const cut = Object.create(cgroups) as CgroupTree
        cut.apply = async (path, values) => {
          if (left-- <= 0) stop.abort(new Error('cut'))
          stop.signal.throwIfAborted()
          await cgroups.apply(path, values)
        }
        const input = {
          ...inputNow(),
          memoryQos: budget % 2 === 0 ? hard : { ...hard, policy: 'TieredReservation' as const },
        }
        await newEngine({ cgroups: cut })
          .pass(input, { signal: stop.signal })
          .catch(() => undefined)
        await newEngine().pass(input, { signal })
        await expectPlan(input)
        points++
        if (left > 0) break
      }
      for (const pod of running) await pod.remove()
      await api().close()
      return { points }
    },
  },
]
