// Wrong values of a runtime: replaced from the cgroups and the network namespace, counted, and passed on with `trust`.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'vitest'
import type { ValuesMode } from '../../src/core/cri/values-mode.js'
import { type DeepPartial, type Metric, MetricDescriptor, PodSandboxMetrics } from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { readExposition } from '../support/exposition.js'
import { statsOf } from '../support/runtime-values.js'
import { web } from '../support/stats-pods.js'
import { runtimeNamed, startValuesFixture, type ValuesFixture } from './stats-fixture.js'

let fixture: ValuesFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})
const start = async (scripts: Scripts, values: ValuesMode = 'repair'): Promise<ValuesFixture> => {
  fixture = await startValuesFixture([web], scripts, 'complete', values)
  return fixture
}
const [app, sidecar] = web.containers.map((c) => c.id)
const huge = 2n ** 64n - 1n

const extra: Readonly<Record<string, readonly string[]>> = {
  container_cpu_usage_seconds_total: ['cpu'],
  container_memory_failures_total: ['failure_type', 'scope'],
  container_network_receive_bytes_total: ['interface'],
}
const families = [
  'container_cpu_usage_seconds_total',
  'container_memory_max_usage_bytes',
  'container_memory_working_set_bytes',
  'container_memory_failures_total',
  'container_threads_max',
  'container_network_receive_bytes_total',
]
const metric = (name: string, value: bigint, ...labels: string[]): DeepPartial<Metric> => ({
  name,
  timestamp: 1n,
  labelValues: ['web-0', 'default', ...labels],
  value: { value },
})

/** As the runtimes of the table in docs/cri-server.md report them. */
const wrong = (runtime: Scripts): Scripts => ({
  ...runtime,
  ListMetricDescriptors: {
    value: {
      descriptors: families.map((name) =>
        MetricDescriptor.fromPartial({ name, labelKeys: ['pod', 'namespace', ...(extra[name] ?? [])] }),
      ),
    },
  },
  ListPodSandboxMetrics: {
    value: {
      podMetrics: [
        PodSandboxMetrics.fromPartial({
          podSandboxId: web.sandboxId,
          metrics: [metric('container_network_receive_bytes_total', 2_000_000_000n, 'ens3')],
          containerMetrics: [app, sidecar].map((containerId) => ({
            containerId: containerId ?? '',
            metrics: [
              metric('container_cpu_usage_seconds_total', 6n, 'cpu00'),
              metric('container_cpu_usage_seconds_total', 5n, 'cpu01'),
              metric('container_memory_max_usage_bytes', huge),
              metric('container_memory_working_set_bytes', 40_000_000n),
              metric('container_memory_failures_total', 7n, 'pgfault', 'container'),
              metric('container_threads_max', huge),
            ],
          })),
        }),
      ],
    },
  },
})
const crio = runtimeNamed('cri-o', '1.36.3')

const series = async ({ server }: ValuesFixture, name: string, container = 'app') =>
  readExposition(await server.cadvisor()).filter((s) => s.name === name && s.labels.container === container)
const values = async (f: ValuesFixture, name: string) => (await series(f, name)).map((s) => s.value)

describe('metrics', () => {
  test('repair: what the kernel has, once for each series', async () => {
    const alone = await start({})
    const peak = await values(alone, 'container_memory_max_usage_bytes')
    const threadsMax = await values(alone, 'container_threads_max')
    await alone.close()
    const f = await start(wrong(crio))
    assert.deepEqual(await values(f, 'container_memory_max_usage_bytes'), peak)
    assert.deepEqual(await values(f, 'container_threads_max'), threadsMax)
    assert.deepEqual(
      (await series(f, 'container_cpu_usage_seconds_total')).map((s) => [s.labels.cpu, s.value]),
      [['total', '12.345678']],
    )
    assert.deepEqual(
      (await series(f, 'container_network_receive_bytes_total', '')).map((s) => [
        s.labels.interface,
        s.value,
      ]),
      [
        ['eth0', '1048576'],
        ['net1', '2048'],
      ],
    )
    assert.deepEqual(await values(f, 'container_memory_working_set_bytes'), ['40000000'], 'a right one stays')
    assert.deepEqual(
      f.server.repairs
        .repaired()
        .map((r) => `${r.runtime} ${r.version} ${r.family} ${r.reason}`)
        .sort(),
      [
        'cri-o 1.36.3 container_cpu_usage_seconds_total cpu-rows',
        'cri-o 1.36.3 container_memory_max_usage_bytes unlimited-as-amount',
        'cri-o 1.36.3 container_network_receive_bytes_total node-network-counted',
        'cri-o 1.36.3 container_threads_max unlimited-as-amount',
      ],
    )
  })

  test('rows that every cgroup has are added: memory failures of the whole hierarchy', async () => {
    const f = await start(wrong(runtimeNamed('containerd', 'v2.4.2')))
    const rows = (await series(f, 'container_memory_failures_total')).map(
      ({ labels, value }) => `${labels.failure_type} ${labels.scope} ${value}`,
    )
    assert.equal(rows.length, 4, rows.join(', '))
    assert.ok(rows.includes('pgfault container 7'), 'its own row stays')
  })

  test('throttling of a container without a CPU quota is left out', async () => {
    const name = 'container_cpu_cfs_periods_total'
    const kernel = await start({})
    const withQuota = (await series(kernel, name)).length + (await series(kernel, name, 'sidecar')).length
    await kernel.close()
    const labelKeys = ['pod', 'namespace']
    const f = await start({
      ...runtimeNamed('containerd', 'v2.4.2'),
      ListMetricDescriptors: { value: { descriptors: [MetricDescriptor.fromPartial({ name, labelKeys })] } },
      ListPodSandboxMetrics: {
        value: {
          podMetrics: [
            PodSandboxMetrics.fromPartial({
              podSandboxId: web.sandboxId,
              containerMetrics: [app, sidecar].map((containerId) => ({
                containerId: containerId ?? '',
                metrics: [metric(name, 0n)],
              })),
            }),
          ],
        },
      },
    })
    const shown = (await series(f, name)).length + (await series(f, name, 'sidecar')).length
    assert.equal(shown, withQuota)
    assert.ok(shown < 2, 'one of the two has no quota')
    assert.equal(f.server.repairs.repaired()[0]?.reason, 'throttling-without-quota')
  })

  test('the device of a file system is its name, not the path of its root', async () => {
    const name = 'container_fs_usage_bytes'
    const kernel = await start({})
    const real = (await series(kernel, name)).map(({ labels }) => labels.device)
    await kernel.close()
    const labelKeys = ['pod', 'namespace', 'device']
    const f = await start({
      ...runtimeNamed('containerd', 'v2.4.2'),
      ListMetricDescriptors: { value: { descriptors: [MetricDescriptor.fromPartial({ name, labelKeys })] } },
      ListPodSandboxMetrics: {
        value: {
          podMetrics: [
            PodSandboxMetrics.fromPartial({
              podSandboxId: web.sandboxId,
              containerMetrics: [{ containerId: app ?? '', metrics: [metric(name, 5n, '/')] }],
            }),
          ],
        },
      },
    })
    const shown = (await series(f, name)).map(({ labels }) => labels.device)
    assert.deepEqual(shown, real.length > 0 ? real : ['/'])
    assert.equal(f.server.repairs.repaired()[0]?.reason, real.length > 0 ? 'root-as-device' : undefined)
  })

  test('trust: as the runtime has them', async () => {
    const f = await start(wrong(crio), 'trust')
    assert.deepEqual(await values(f, 'container_memory_max_usage_bytes'), [String(huge)])
    assert.deepEqual(
      (await series(f, 'container_cpu_usage_seconds_total')).map((s) => s.labels.cpu),
      ['cpu00', 'cpu01'],
    )
    assert.deepEqual(
      (await series(f, 'container_network_receive_bytes_total', '')).map((s) => s.labels.interface),
      ['ens3'],
    )
    assert.deepEqual(f.server.repairs.repaired(), [])
  })
})

describe('stats', () => {
  const given: Scripts = {
    ...crio,
    ListContainerStats: {
      value: {
        stats: [app, sidecar].map((id) => ({
          attributes: { id: id ?? '' },
          memory: {
            timestamp: 1n,
            availableBytes: { value: 9_223_372_036_854_562_816n },
            pageFaults: { value: 0n },
            usageBytes: { value: 5n },
          },
          swap: { timestamp: 1n, swapAvailableBytes: { value: huge } },
        })),
      },
    },
    ListPodSandboxStats: { value: { stats: [statsOf(web)] } },
    Status: { value: {} },
  }
  const statsOfContainer = async ({ client }: ValuesFixture, id: string | undefined) =>
    (await client.runtime.listContainerStats({})).stats.find((s) => s.attributes?.id === id)

  test('repair: available memory below the limit, unset without one; page faults of the kernel', async () => {
    const f = await start(given)
    const limited = await statsOfContainer(f, app)
    assert.ok((limited?.memory?.availableBytes?.value ?? huge) < 2n ** 40n)
    assert.ok((limited?.memory?.pageFaults?.value ?? 0n) > 0n)
    assert.equal(limited?.memory?.usageBytes?.value, 5n, 'a right one stays')
    const unlimited = await statsOfContainer(f, sidecar)
    assert.equal(unlimited?.memory?.availableBytes, undefined)
    assert.notEqual(unlimited?.swap?.swapAvailableBytes?.value, huge)
    const { info } = await f.client.runtime.status({ verbose: true })
    assert.match(info.keelson ?? '', /"values":"repair"/)
    assert.match(info.keelson ?? '', /"unlimited-as-amount":\d+.*"zero-page-faults":\d+/)
  })

  test('trust: as the runtime has them', async () => {
    const f = await start(given, 'trust')
    const stats = await statsOfContainer(f, app)
    assert.equal(stats?.memory?.availableBytes?.value, 9_223_372_036_854_562_816n)
    assert.equal(stats?.memory?.pageFaults?.value, 0n)
    assert.equal(stats?.swap?.swapAvailableBytes?.value, huge)
  })

  test('CRI-O is not asked for the list that ends it; with trust it is', async () => {
    const f = await start(given)
    const { stats } = await f.client.runtime.listPodSandboxStats({ filter: {} })
    assert.equal(stats.length, 1)
    assert.equal(f.runtime.callsOf('ListPodSandboxStats').length, 0)
    await f.close()
    const trusting = await start(given, 'trust')
    await trusting.client.runtime.listPodSandboxStats({ filter: {} })
    assert.equal(trusting.runtime.callsOf('ListPodSandboxStats').length, 1)
  })
})
