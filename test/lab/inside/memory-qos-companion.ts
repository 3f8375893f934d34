// `keelson companion` as a process of its own beside an independent pod runner on a real kernel: applies, survives restarts and
// resets by others, follows both sources of pods, and takes everything back exactly.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../support/check.js'
import { amounts, burstable, CompanionFixture, kubepods, web } from './companion-fixture.js'
import { commandFromHere } from './lab-kubelet.js'
import { cgroups, containerPath, mib, nodeInput, text, tiered } from './memory-qos-node.js'

await commandFromHere()

let made: CompanionFixture | undefined
const machine = (): CompanionFixture => {
  assert.ok(made, 'an earlier check failed')
  return made
}
const pathOf = (pod: string, container: string): Promise<string> => {
  const found = machine().running.get(pod)
  assert.ok(found)
  return containerPath(found, container)
}
const ours = (path: string): readonly (string | undefined)[] =>
  ['memory.min', 'memory.low', 'memory.high'].map((file) => text(path, file))

async function rolledBack(): Promise<void> {
  await machine().rollBack()
  assert.deepEqual(machine().everything(), machine().first)
}

export const checks: readonly Check[] = [
  {
    name: 'pods of another runner, tuned by somebody',
    timeoutMs: 250_000,
    async run() {
      made = await CompanionFixture.start()
    },
  },
  {
    name: 'pods from /pods: applied on every level; found values stay over a restart; rolled back exactly',
    timeoutMs: 400_000,
    async run() {
      await machine().with(machine().fromKubelet(), async (companion) => {
        await machine().converges(companion)
        assert.equal(text(kubepods, 'memory.min'), mib(80))
        assert.equal(text(burstable, 'memory.min'), mib(32))
        // 32Mi + 0.9 x 64Mi in whole pages.
        assert.deepEqual(ours(await pathOf('web', 'app')), [mib(32), '0', '93949952'])
        assert.deepEqual(ours(await pathOf('db', 'app')), [mib(48), '0', 'max'])
      })
      assert.notDeepEqual(machine().everything(), machine().first)
      await machine().with(machine().fromKubelet(), (again) => machine().converges(again))
      await rolledBack()
    },
  },
  {
    name: 'debug containers: no throttle in a Guaranteed pod, by allocatable memory in a Burstable one, no protection',
    timeoutMs: 250_000,
    async run() {
      await machine().with(machine().fromKubelet(), async (companion) => {
        await machine().converges(companion)
        assert.deepEqual(ours(await pathOf('db', 'debug')), ['0', '0', 'max'])
        const [min, low, high] = ours(await pathOf('web', 'debug'))
        const node = Number(nodeInput(tiered).node.allocatableMemory)
        assert.deepEqual([min, low], ['0', '0'])
        assert.equal(high, String(Math.floor((node * 0.9) / 4096) * 4096))
      })
      await rolledBack()
    },
  },
  {
    name: 'pods from the API server: a reset by others is put back; bookmarks, clean ends, torn streams, expiry',
    timeoutMs: 500_000,
    async run() {
      const { api } = machine()
      await machine().with(machine().fromApi(), async (companion) => {
        await machine().converges(companion)
        cgroups.write(kubepods, 'memory.min', '0')
        await machine().converges(companion)
        // A pod resized through its status, again and again, each time behind another interruption of the watch.
        for (const [how, request] of [
          ['bookmark', '48Mi'],
          ['clean', '40Mi'],
          ['torn', '64Mi'],
          ['expired', '56Mi'],
        ] as const) {
          const asked = api.requests.length
          if (how === 'bookmark') api.bookmark()
          else api.endWatches(how)
          if (how !== 'bookmark')
            for (const end = Date.now() + 30_000; api.requests.length === asked; await sleep(50))
              assert.ok(Date.now() < end, `nothing asked after ${how}\n${companion.output()}`)
          const resources = amounts(request, '96Mi')
          api.put('lab-web', web({ containerStatuses: [{ name: 'app', resources }] }))
          await machine().converges(companion)
          assert.equal(text(kubepods, 'memory.min'), mib(48 + Number.parseInt(request, 10)), how)
        }
        api.put('lab-web', web())
        await machine().converges(companion)
        assert.equal(text(kubepods, 'memory.min'), mib(80))
      })
      await rolledBack()
    },
  },
  {
    name: 'annotations that name the uid of another pod, or none that can be: the other pod keeps its values',
    timeoutMs: 250_000,
    async run() {
      const { api } = machine()
      const evil = (uid: string): object => ({
        metadata: {
          name: 'evil',
          namespace: 'other',
          uid: 'lab-evil',
          annotations: { 'kubernetes.io/config.hash': uid, 'kubernetes.io/config.source': 'file' },
        },
        spec: { containers: [{ name: 'app', resources: amounts('1Mi', '4Mi') }] },
        status: { phase: 'Running', qosClass: 'Burstable' },
      })
      await machine().with(machine().fromApi(), async (companion) => {
        await machine().converges(companion)
        const app = await pathOf('web', 'app')
        const before = ours(app)
        for (const uid of ['lab-web', 'a/b', ' ']) {
          api.put('lab-evil', evil(uid))
          // Reset while the pod is there: a pass that ends early would not put it back.
          cgroups.write(burstable, 'memory.min', '0')
          for (const end = Date.now() + 60_000; text(burstable, 'memory.min') === '0'; await sleep(100))
            assert.ok(Date.now() < end, `no pass with ${JSON.stringify(uid)}\n${companion.output()}`)
          // A pass every two seconds.
          await sleep(5_000)
          assert.deepEqual(ours(app), before, uid)
        }
        api.remove('lab-evil')
        await machine().converges(companion)
      })
      await rolledBack()
    },
  },
  {
    name: 'a second companion and a rollback beside a running one are refused',
    timeoutMs: 250_000,
    async run() {
      await machine().with(machine().fromKubelet(), async (companion) => {
        await machine().converges(companion)
        for (const args of [machine().fromKubelet(), ['rollback']]) {
          const second = machine().start(...args)
          await second.ended
          assert.match(second.output(), /companion\.busy/)
        }
      })
      await rolledBack()
    },
  },
  {
    name: 'values of others stay: ten passes and a rollback leave cpu, limits and pids as they are',
    timeoutMs: 250_000,
    async run() {
      const pod = machine().running.get('web')?.path ?? ''
      const app = await pathOf('web', 'app')
      const foreign = [
        [kubepods, 'cpu.weight', '77'],
        [kubepods, 'memory.max', mib(900)],
        [burstable, 'cpu.max', '90000 100000'],
        [pod, 'pids.max', '333'],
        [app, 'cpu.weight', '55'],
        [app, 'memory.max', mib(120)],
      ] as const
      const before = foreign.map(([at, file]) => text(at, file) ?? '')
      for (const [at, file, value] of foreign) cgroups.write(at, file, value)
      await machine().with(machine().fromKubelet(), async (companion) => {
        await machine().converges(companion)
        // A pass every two seconds.
        await sleep(22_000)
        for (const [at, file, value] of foreign) assert.equal(text(at, file), value, `${at} ${file}`)
      })
      await machine().rollBack()
      for (const [at, file, value] of foreign) assert.equal(text(at, file), value, `${at} ${file}`)
      for (const [i, [at, file]] of foreign.entries()) cgroups.write(at, file, before[i] ?? '')
      assert.deepEqual(machine().everything(), machine().first)
      await machine().close()
    },
  },
]
