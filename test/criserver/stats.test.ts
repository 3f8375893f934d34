// The stats RPCs: completed where the runtime has them, answered where it has not, its own values kept apart from defects.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { isKeelsonError } from '../../src/core/errors.js'
import { ContainerStats, ListContainerStatsResponse } from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { statsOf } from '../support/runtime-values.js'
import { podCgroup, put } from '../support/stats-fixture.js'
import { etcd, web } from '../support/stats-pods.js'
import { runtimeNamed, startValuesFixture, type ValuesFixture } from './stats-fixture.js'

const pods = [web, etcd]
let fixture: ValuesFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})
const start = async (scripts: Scripts = {}, mode?: 'observe'): Promise<ValuesFixture> => {
  fixture = await startValuesFixture(pods, scripts, mode)
  return fixture
}
const [app, sidecar] = web.containers.map((c) => c.id)
const given: Scripts = {
  ListPodSandboxStats: { value: { stats: pods.map((p) => statsOf(p)) } },
  PodSandboxStats: { value: { stats: statsOf(web) } },
  ContainerStats: { value: { stats: statsOf(web).linux?.containers[0] ?? {} } },
  ListContainerStats: { value: { stats: statsOf(web).linux?.containers ?? [] } },
}

test('a node that cannot be looked at costs the answer of an old containerd nothing', async () => {
  const { client } = await start({
    ...given,
    ...runtimeNamed('containerd', '1.6.20'),
    ListContainers: { code: 'INTERNAL', message: 'no list today' },
  })
  const { stats } = await client.runtime.listPodSandboxStats({})
  assert.ok(stats.some((s) => s.attributes?.id === web.sandboxId))
})

describe('a runtime without stats', () => {
  test('each RPC is answered from the cgroups', async () => {
    const { client, server } = await start()
    const { stats } = await client.runtime.containerStats({ containerId: app ?? '' })
    // The published snapshot v2-01-limited.
    assert.equal(stats?.attributes?.metadata?.name, 'app')
    assert.equal(stats?.cpu?.usageCoreNanoSeconds?.value, 12_345_678_000n)
    assert.equal(stats?.cpu?.usageNanoCores, undefined, 'one sample has no rate')
    assert.ok(stats?.memory?.availableBytes !== undefined && stats.memory.rssBytes !== undefined)
    assert.ok(stats?.swap !== undefined && stats.io?.psi !== undefined && stats.cpu?.psi?.Some !== undefined)
    const pod = await client.runtime.podSandboxStats({ podSandboxId: web.sandboxId })
    assert.deepEqual(
      pod.stats?.linux?.containers.map((c) => c.attributes?.id),
      [app, sidecar],
    )
    assert.equal(pod.stats?.linux?.network?.defaultInterface?.name, 'eth0')
    assert.deepEqual(
      pod.stats?.linux?.network?.interfaces.map((i) => i.name),
      ['net1'],
    )
    const list = await client.runtime.listPodSandboxStats({ filter: {} })
    assert.equal(list.stats.length, 2)
    const host = list.stats.find((s) => s.attributes?.id === etcd.sandboxId)
    assert.equal(host?.linux?.network, undefined, "the node's network is not the pod's")
    const containers = await client.runtime.listContainerStats({
      filter: { labelSelector: { 'io.kubernetes.container.name': 'etcd' } },
    })
    assert.deepEqual(
      containers.stats.map((s) => s.attributes?.metadata?.name),
      ['etcd'],
    )
    // An answer is counted when it has gone, which its reader may see first.
    const row = () => server.table.rows().find((r) => r.rpc === 'ListPodSandboxStats')
    await expect.poll(() => [row()?.answered, row()?.missing]).toEqual([1, 1])
  })

  test('what is not there is NOT_FOUND, so that a kubelet sees that the RPC exists', async () => {
    const { client } = await start()
    for (const call of [
      client.runtime.podSandboxStats({ podSandboxId: '' }),
      client.runtime.containerStats({ containerId: 'f'.repeat(64) }),
    ]) {
      const error = await call.catch((e: unknown) => e)
      assert.ok(isKeelsonError(error) && error.code === 'runtime.not-found', String(error))
    }
  })

  test('a rate spans at least a second, however often somebody asks', async () => {
    const { client, root } = await start()
    const rate = async () => {
      const { stats } = await client.runtime.containerStats({ containerId: app ?? '' })
      return stats?.cpu?.usageNanoCores?.value
    }
    assert.equal(await rate(), undefined)
    assert.equal(await rate(), undefined)
    await sleep(1_100)
    put(
      join(root, podCgroup(web), app ?? '', 'cpu.stat'),
      'usage_usec 12900000\nuser_usec 1\nsystem_usec 1\n',
    )
    const first = await rate()
    assert.ok(first !== undefined && first > 100_000_000n && first < 600_000_000n, String(first))
    assert.equal(await rate(), first, 'the same look serves both')
  })

  test('streams over lists that the runtime has not', async () => {
    const { client } = await start()
    const ids: (string | undefined)[] = []
    for await (const m of client.runtime.streamContainerStats({}))
      ids.push(...m.containerStats.map((c) => c.attributes?.metadata?.name))
    assert.deepEqual(ids, ['app', 'sidecar', 'etcd'])
  })
})

describe('a runtime with stats', () => {
  test('its values stay, the gaps are filled', async () => {
    const { client, server } = await start(given)
    const { stats } = await client.runtime.containerStats({ containerId: app ?? '' })
    assert.equal(stats?.cpu?.usageCoreNanoSeconds?.value, 12_345_678_901n)
    assert.equal(stats?.memory?.workingSetBytes?.value, 40_000_000n)
    assert.equal(stats?.memory?.availableBytes?.value, 7n)
    assert.equal(stats?.swap?.swapUsageBytes?.value, 11n)
    assert.equal(stats?.writableLayer?.usedBytes?.value, 4096n)
    assert.ok(
      stats?.memory?.rssBytes !== undefined && stats.memory.psi !== undefined && stats.io !== undefined,
    )
    await expect.poll(() => server.table.rows().find((r) => r.rpc === 'ContainerStats')?.completed).toBe(1)
  })

  test('known defects are fixed, and only for the runtime that has them', async () => {
    const { client } = await start(given)
    const { stats } = await client.runtime.podSandboxStats({ podSandboxId: web.sandboxId })
    const linux = stats?.linux
    assert.deepEqual(
      linux?.network?.interfaces.map((i) => i.name),
      ['net1'],
      'default interface repeated',
    )
    assert.equal(linux?.network?.defaultInterface?.rxBytes?.value, 10n)
    assert.notEqual(linux?.process?.processCount?.value, 5n, 'threads')
    assert.equal(linux?.containers[0]?.cpu?.usageNanoCores, undefined, 'rate 0 when unknown')
    await fixture?.close()
    const other = await start({ ...given, ...runtimeNamed('othertime', '9.0.0') })
    const same = (await other.client.runtime.podSandboxStats({ podSandboxId: web.sandboxId })).stats?.linux
    assert.equal(same?.network?.interfaces.length, 2)
    assert.equal(same?.process?.processCount?.value, 5n)
    assert.equal(same?.containers[0]?.cpu?.usageNanoCores?.value, 0n)
  })

  test('available 0 stays where there is a limit and goes where there is none', async () => {
    const zero = { timestamp: 1n, availableBytes: { value: 0n }, workingSetBytes: { value: 5n } }
    const { client } = await start({
      ...given,
      ListContainerStats: {
        value: {
          stats: web.containers.map((c) => ({ attributes: { id: c.id }, memory: zero })),
        },
      },
    })
    const { stats } = await client.runtime.listContainerStats({})
    const of = (id: string | undefined) => stats.find((s) => s.attributes?.id === id)?.memory?.availableBytes
    assert.equal(of(app)?.value, 0n)
    assert.equal(of(sidecar), undefined)
  })

  test('lo as default interface becomes eth0 (CRI-O)', async () => {
    const lo = { name: 'lo', rxBytes: { value: 1n } }
    const { client } = await start({
      ...runtimeNamed('cri-o', '1.31.0'),
      PodSandboxStats: {
        value: {
          stats: {
            attributes: { id: web.sandboxId },
            linux: { network: { timestamp: 1n, defaultInterface: lo, interfaces: [{ name: 'eth0' }] } },
          },
        },
      },
    })
    const { stats } = await client.runtime.podSandboxStats({ podSandboxId: web.sandboxId })
    assert.equal(stats?.linux?.network?.defaultInterface?.name, 'eth0')
    assert.equal(stats?.linux?.network?.defaultInterface?.rxBytes?.value, 1_048_576n)
  })

  test('a network always has a default interface, nameless where the pod has only lo: kubelets crash without', async () => {
    const alone = { ...web, netDev: '    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n' }
    const lo = { name: 'lo', rxBytes: { value: 1n } }
    const ofRuntime: Scripts = {
      ...runtimeNamed('cri-o', '1.31.0'),
      PodSandboxStats: {
        value: {
          stats: {
            attributes: { id: web.sandboxId },
            linux: { network: { timestamp: 1n, defaultInterface: lo, interfaces: [] } },
          },
        },
      },
    }
    for (const scripts of [{}, ofRuntime]) {
      fixture = await startValuesFixture([alone], scripts)
      const { stats } = await fixture.client.runtime.podSandboxStats({ podSandboxId: web.sandboxId })
      assert.equal(stats?.linux?.network?.defaultInterface?.name, '')
      assert.equal(stats?.linux?.network?.defaultInterface?.rxBytes, undefined)
      assert.deepEqual(stats?.linux?.network?.interfaces, [])
      await fixture.close()
    }
    fixture = undefined
  })

  test('containerd 1.x is not asked for the list, later ones are', async () => {
    const old = await start({ ...given, ...runtimeNamed('containerd', '1.6.20~ds1') })
    const { stats } = await old.client.runtime.listPodSandboxStats({ filter: {} })
    assert.equal(stats.length, 2)
    assert.equal(old.runtime.callsOf('ListPodSandboxStats').length, 0)
    assert.equal(stats[0]?.linux?.containers[0]?.writableLayer?.usedBytes?.value, 4096n, 'layers are its own')
    await fixture?.close()
    const later = await start(given)
    await later.client.runtime.listPodSandboxStats({ filter: {} })
    assert.equal(later.runtime.callsOf('ListPodSandboxStats').length, 1)
  })

  test('pods in virtual machines: the runtime is asked, and its word stays', async () => {
    const kata = { ...web, handler: 'kata' }
    fixture = await startValuesFixture([kata, etcd], {
      ...given,
      ...runtimeNamed('containerd', '1.6.20'),
      Status: {
        value: {
          info: {
            config: JSON.stringify({
              containerd: { runtimes: { kata: { runtimeType: 'io.containerd.kata.v2' } } },
            }),
          },
        },
      },
    })
    const { stats } = await fixture.client.runtime.listPodSandboxStats({ filter: {} })
    assert.equal(fixture.runtime.callsOf('ListPodSandboxStats').length, 1)
    const inVm = stats.find((s) => s.attributes?.id === kata.sandboxId)
    assert.deepEqual(inVm, statsOf(kata))
  })

  test('fields of a later API survive', async () => {
    const later = Buffer.concat([
      ContainerStats.encode(ContainerStats.fromPartial({ attributes: { id: app ?? '' } })).finish(),
      Buffer.from([0xc2, 0x3e, 5]),
      Buffer.from('later'),
    ])
    const { client } = await start({
      ...given,
      ListContainerStats: { bytes: Buffer.concat([Buffer.from([10, later.length]), later]) },
    })
    const answer = await client.runtime.listContainerStats({})
    const bytes = Buffer.from(ListContainerStatsResponse.encode(answer).finish())
    assert.ok(bytes.includes('later'))
    assert.ok(answer.stats[0]?.cpu !== undefined, 'and the rest is filled')
  })

  test('a runtime that hangs over its layers holds a caller no longer than the caller likes', async () => {
    const { client } = await start({ ...given, ListContainerStats: { hang: true } })
    const begun = performance.now()
    const late = await client.runtime
      .podSandboxStats({ podSandboxId: web.sandboxId }, { timeoutMs: 500 })
      .catch((e: unknown) => e)
    assert.ok(isKeelsonError(late) && late.code === 'runtime.deadline', String(late))
    assert.ok(performance.now() - begun < 5_000)
  })

  test('a failure of the runtime is its own', async () => {
    const { client } = await start({
      ...given,
      ContainerStats: { code: 'INTERNAL', message: 'disk on fire' },
    })
    await assert.rejects(client.runtime.containerStats({ containerId: app ?? '' }), /disk on fire/)
  })

  test('a node that cannot be looked at costs the runtime nothing', async () => {
    const { client } = await start({ ...given, ListContainers: { code: 'INTERNAL', message: 'no list' } })
    const { stats } = await client.runtime.containerStats({ containerId: app ?? '' })
    assert.deepEqual(stats, statsOf(web).linux?.containers[0])
  })

  test('observe mode changes nothing and writes down what is missing', async () => {
    const { client, server } = await start(given, 'observe')
    const { stats } = await client.runtime.podSandboxStats({ podSandboxId: web.sandboxId })
    assert.deepEqual(stats, statsOf(web))
    const row = () => server.table.rows().find((r) => r.rpc === 'PodSandboxStats')
    await expect.poll(() => row()?.forwarded).toBe(1)
    await expect.poll(() => row()?.missingFields).toHaveProperty(['linux.memory.rss_bytes'])
  })
})
