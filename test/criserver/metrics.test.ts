// ListMetricDescriptors, ListPodSandboxMetrics and the Prometheus text: one set of series, with and without metrics of the
// runtime's own.
import assert from 'node:assert/strict'
import { afterEach, describe, expect, test } from 'vitest'
import type { Metric, PodSandboxMetrics } from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { readExposition } from '../support/exposition.js'
import { metricsOf, statsOf, descriptors as theirs } from '../support/runtime-values.js'
import { podCgroup } from '../support/stats-fixture.js'
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
const app = web.containers[0]?.id ?? ''
const own: Scripts = {
  ListMetricDescriptors: { value: { descriptors: theirs } },
  ListPodSandboxMetrics: { value: { podMetrics: pods.map((p) => metricsOf(p)) } },
}
const containerMetrics = (all: readonly PodSandboxMetrics[], id: string): readonly Metric[] =>
  all.flatMap((p) => p.containerMetrics).find((c) => c.containerId === id)?.metrics ?? []
const read = async ({ client }: ValuesFixture) => ({
  descriptors: (await client.runtime.listMetricDescriptors({})).descriptors,
  podMetrics: (await client.runtime.listPodSandboxMetrics({})).podMetrics,
})

/** Labels by name, as a kubelet puts them together. */
const labelled = ({ descriptors }: Awaited<ReturnType<typeof read>>, m: Metric) =>
  Object.fromEntries(
    (descriptors.find((d) => d.name === m.name)?.labelKeys ?? []).map((key, i) => [key, m.labelValues[i]]),
  )

describe('a runtime without metrics', () => {
  test('every series is declared, with as many values as keys, and the six labels', async () => {
    const all = await read(await start())
    const byName = new Map(all.descriptors.map((d) => [d.name, d]))
    const metrics = all.podMetrics.flatMap((p) => [
      ...p.metrics,
      ...p.containerMetrics.flatMap((c) => c.metrics),
    ])
    assert.ok(metrics.length > 100)
    for (const m of metrics) assert.equal(m.labelValues.length, byName.get(m.name)?.labelKeys.length, m.name)
    const memory = containerMetrics(all.podMetrics, app).find(
      (m) => m.name === 'container_memory_working_set_bytes',
    )
    assert.ok(memory !== undefined)
    assert.deepEqual(labelled(all, memory), {
      container: 'app',
      id: `${podCgroup(web)}/${app}`,
      image: 'registry.example/app:1',
      name: app,
      namespace: 'default',
      pod: 'web-0',
    })
    const cpu = containerMetrics(all.podMetrics, app).find(
      (m) => m.name === 'container_cpu_usage_seconds_total',
    )
    assert.equal(cpu?.value?.value, 12n, 'CRI has whole seconds')
    const host = all.podMetrics.find((p) => p.podSandboxId === etcd.sandboxId)
    assert.ok(host?.metrics.every((m) => !m.name.includes('network')))
  })

  test('layers need a runtime that tells them', async () => {
    const without = await read(await start())
    assert.ok(without.descriptors.every((d) => d.name !== 'container_fs_usage_bytes'))
    await fixture?.close()
    const layered = await start({
      ListContainerStats: { value: { stats: statsOf(web).linux?.containers ?? [] } },
    })
    assert.ok((await read(layered)).descriptors.some((d) => d.name === 'container_fs_usage_bytes'))
  })

  test('the stream has the same pods', async () => {
    const { client } = await start()
    const ids: string[] = []
    for await (const m of client.runtime.streamPodSandboxMetrics({}))
      ids.push(...m.podSandboxMetrics.map((p) => p.podSandboxId))
    assert.deepEqual(ids.toSorted(), pods.map((p) => p.sandboxId).toSorted())
  })

  test('the Prometheus text and the RPC agree in names, labels and values; only the text has fractions', async () => {
    const on = await start()
    const all = await read(on)
    const series = readExposition(await on.server.cadvisor())
    const fromRpc = all.podMetrics
      .flatMap((p) => [...p.metrics, ...p.containerMetrics.flatMap((c) => c.metrics)])
      .map((m) => [
        m.name,
        JSON.stringify(labelled(all, m), Object.keys(labelled(all, m)).sort()),
        m.value?.value,
      ])
    const fromText = series.map((s) => [
      s.name,
      JSON.stringify(s.labels, Object.keys(s.labels).sort()),
      BigInt(s.value.split('.')[0] ?? ''),
    ])
    const sorted = (rows: unknown[][]) => rows.map((r) => r.map(String).join(' ')).toSorted()
    assert.deepEqual(sorted(fromText), sorted(fromRpc))
    const exact = series.find(
      (s) => s.name === 'container_cpu_usage_seconds_total' && s.labels.container === 'app',
    )
    assert.equal(exact?.value, '12.345678')
  })
})

describe('a runtime with metrics', () => {
  test('its values stay, with our labels; what it lacks is added', async () => {
    const on = await start(own)
    const all = await read(on)
    const metrics = containerMetrics(all.podMetrics, app)
    const memory = metrics.find((m) => m.name === 'container_memory_working_set_bytes')
    assert.equal(memory?.value?.value, 40_000_000n, 'the runtime said so')
    assert.equal(memory && labelled(all, memory).name, app)
    const reads = metrics.filter((m) => m.name === 'container_fs_reads_total')
    assert.equal(reads.length, 1)
    assert.equal(reads[0] && labelled(all, reads[0]).device, '/dev/sda', 'devices have names')
    assert.ok(
      metrics.some((m) => m.name === 'container_memory_rss'),
      'added',
    )
    assert.equal(metrics.filter((m) => m.name === 'runtime_only_total').length, 1, 'kept as it is')
    assert.deepEqual(
      all.descriptors.find((d) => d.name === 'runtime_only_total'),
      theirs.find((d) => d.name === 'runtime_only_total'),
    )
    assert.equal(new Set(all.descriptors.map((d) => d.name)).size, all.descriptors.length, 'declared once')
    await expect
      .poll(() => on.server.table.rows().find((r) => r.rpc === 'ListPodSandboxMetrics')?.completed)
      .toBe(1)
  })

  test('a start in nanoseconds becomes one in seconds, for containerd only', async () => {
    const name = 'container_start_time_seconds'
    const scripts: Scripts = {
      ListMetricDescriptors: { value: { descriptors: [{ name, help: 'h', labelKeys: ['id'] }] } },
      ListPodSandboxMetrics: {
        value: {
          podMetrics: [
            {
              podSandboxId: web.sandboxId,
              containerMetrics: [
                {
                  containerId: app,
                  metrics: [{ name, labelValues: ['x'], value: { value: 1_790_000_000_123_456_789n } }],
                },
              ],
            },
          ],
        },
      },
    }
    const value = async (on: ValuesFixture) =>
      containerMetrics((await read(on)).podMetrics, app).find((m) => m.name === name)?.value?.value
    const mended = await value(await start(scripts))
    assert.ok(mended !== undefined && mended > 1_700_000_000n && mended < 1_800_000_000n, String(mended))
  })

  test('a failing runtime is passed on; in observe mode nothing is added', async () => {
    const failing = await start({
      ...own,
      ListPodSandboxMetrics: { code: 'INTERNAL', message: 'no values' },
    })
    await assert.rejects(failing.client.runtime.listPodSandboxMetrics({}), /no values/)
    await fixture?.close()
    const watched = await start(own, 'observe')
    assert.deepEqual(
      (await read(watched)).descriptors.map((d) => d.name),
      theirs.map((d) => d.name),
    )
  })

  test('other runtimes: series of pods that we do not know go by', async () => {
    const stranger = { podSandboxId: 'f'.repeat(64), metrics: [{ name: 'x', value: { value: 1n } }] }
    const { podMetrics } = await read(
      await start({
        ...own,
        ...runtimeNamed('othertime', '1.0.0'),
        ListPodSandboxMetrics: { value: { podMetrics: [stranger] } },
      }),
    )
    assert.ok(podMetrics.some((p) => p.podSandboxId === stranger.podSandboxId && p.metrics.length === 1))
  })
})

describe('pods that only the runtime has values of', () => {
  const kata: Scripts = {
    Status: {
      value: {
        info: {
          config: JSON.stringify({
            containerd: {
              defaultRuntimeName: 'kata',
              runtimes: { kata: { runtimeType: 'io.containerd.kata.v2' } },
            },
          }),
        },
      },
    },
  }
  const stranger = {
    podSandboxId: 'f'.repeat(64),
    metrics: [
      {
        name: 'container_memory_working_set_bytes',
        labelValues: ['p', 'n', '', '', ''],
        value: { value: 5n },
      },
    ],
  }

  test('have as many label values as we declare, by name, in virtual machines and where the lists lag behind', async () => {
    const all = await read(
      await start({
        ...own,
        ...kata,
        ListPodSandboxMetrics: { value: { podMetrics: [...pods.map((p) => metricsOf(p)), stranger] } },
      }),
    )
    const metrics = all.podMetrics.flatMap((p) => [
      ...p.metrics,
      ...p.containerMetrics.flatMap((c) => c.metrics),
    ])
    const keys = new Map(all.descriptors.map((d) => [d.name, d.labelKeys.length]))
    for (const m of metrics) assert.equal(m.labelValues.length, keys.get(m.name), m.name)
    const memory = containerMetrics(all.podMetrics, app).find(
      (m) => m.name === 'container_memory_working_set_bytes',
    )
    assert.equal(memory?.value?.value, 40_000_000n)
    const { name, pod, namespace } = labelled(all, memory ?? ({} as Metric))
    assert.deepEqual([name, pod, namespace], [app, 'web-0', 'default'])
    const strange = all.podMetrics.find((p) => p.podSandboxId === stranger.podSandboxId)?.metrics[0]
    assert.equal(strange && labelled(all, strange).pod, 'p')
  })

  test('are in the Prometheus text too', async () => {
    const on = await start({ ...own, ...kata })
    const series = readExposition(await on.server.cadvisor())
    const memory = series.filter((s) => s.name === 'container_memory_working_set_bytes')
    assert.ok(memory.some((s) => s.labels.name === app && Number(s.value) === 40_000_000))
  })
})
