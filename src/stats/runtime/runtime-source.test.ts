// The runtime as the source: same series as from cgroups, exact seconds, no double work, and a fallback for each endpoint.
import { afterEach, describe, expect, test } from 'vitest'
import { readExposition } from '../../../test/support/exposition.js'
import { expectGolden } from '../../../test/support/golden.js'
import { indentJson } from '../../../test/support/indent-json.js'
import { delivers, descriptors, metricsOf, statsOf } from '../../../test/support/runtime-values.js'
import {
  containersOf,
  createStatsFixture,
  podCgroup,
  type StatsFixture,
  sandboxOf,
  text,
} from '../../../test/support/stats-fixture.js'
import { etcd, web } from '../../../test/support/stats-pods.js'

const pods = [web, etcd]
let fixture: StatsFixture
afterEach(() => fixture.close())

const fromCri = { fromCri: true } as const
const cadvisor = async () => readExposition(text(await fixture.stats.cadvisor(0)))
const sourceOf = () => {
  const { stats, metrics } = fixture.stats.describe()
  return { stats: stats.source, metrics: metrics.source }
}
const ownMetric = async (name: string) =>
  readExposition(`${(await fixture.metrics.text()).body.replace(/\n+/g, '\n').trimEnd()}\n`).filter(
    (s) => s.name === name,
  )

describe('a runtime that delivers', () => {
  test('the three answers after two samples', async () => {
    fixture = await createStatsFixture({ pods, stats: fromCri })
    const answers = delivers(pods, () => fixture.clock.nowNanos())
    for (const [method, answer] of Object.entries(answers)) fixture.answer(method, answer)
    fixture.reconnect()
    await fixture.tick()
    await fixture.tick()
    expect(sourceOf()).toEqual({ stats: 'cri', metrics: 'cri' })
    expectGolden('stats/cri-cadvisor.txt', text(await fixture.stats.cadvisor(0)))
    expectGolden('stats/cri-resource.txt', text(await fixture.stats.resource(0)))
    expectGolden('stats/cri-summary.json', indentJson(text(await fixture.stats.summary(true, 0))))
  })

  test('no file of a container is read besides its processor seconds, and RPCs do not grow with pods', async () => {
    fixture = await createStatsFixture({ pods, stats: fromCri, answers: delivers(pods) })
    await fixture.tick()
    fixture.reads.length = 0
    fixture.calls.length = 0
    await fixture.tick()
    const inPods = fixture.reads.filter((read) => read.startsWith('/kubepods/'))
    expect(new Set(inPods)).toEqual(
      new Set(pods.flatMap((p) => p.containers.map((c) => `${podCgroup(p)}/${c.id} cpu.stat`))),
    )
    expect(fixture.calls.toSorted()).toEqual([
      'listContainers',
      'listPodSandbox',
      'listPodSandboxMetrics',
      'listPodSandboxStats',
    ])
  })

  test('seconds that CRI cut are exact again, and labels are those of the cgroup source', async () => {
    fixture = await createStatsFixture({ pods, stats: fromCri, answers: delivers(pods) })
    await fixture.tick()
    const app = (await cadvisor()).filter((s) => s.labels.container === 'app')
    const id = web.containers[0]?.id ?? ''
    const labels = {
      container: 'app',
      id: `${podCgroup(web)}/${id}`,
      image: 'registry.example/app:1',
      name: id,
      namespace: 'default',
      pod: 'web-0',
    }
    // 12 s on the wire; cpu.stat of the snapshot has the rest.
    expect(app.find((s) => s.name === 'container_cpu_usage_seconds_total')).toMatchObject({
      value: '12.345678',
      labels: { ...labels, cpu: 'total' },
    })
    expect(app.find((s) => s.name === 'container_fs_reads_total')?.labels).toEqual({
      ...labels,
      device: '/dev/sda',
    })
    // Whole seconds on the wire; the list has the rest.
    expect(app.find((s) => s.name === 'container_start_time_seconds')?.value).toBe('1789997000.123456789')
    // Timestamp 0 was gathered live and gets none.
    expect(app.find((s) => s.name === 'runtime_only_total')?.timestamp).toBeUndefined()
  })

  test('what the metrics lack, and what is malformed in them, is counted and left out', async () => {
    const odd = metricsOf(web)
    const [first] = odd.containerMetrics
    const [metric] = first?.metrics ?? []
    if (first === undefined || metric === undefined) throw new Error('no metric')
    first.metrics.push(
      { ...metric, name: 'never_declared' },
      { ...metric, labelValues: ['x'] },
      { ...metric },
      { ...metric, name: 'runtime_only_total', value: undefined },
    )
    fixture = await createStatsFixture({
      pods,
      stats: fromCri,
      answers: { ...delivers(pods), listPodSandboxMetrics: () => ({ podMetrics: [odd] }) },
    })
    const series = await cadvisor()
    expect(series.some((s) => s.labels.container === 'app')).toBe(true)
    expect(series.some((s) => s.name === 'never_declared')).toBe(false)
    const dropped = await ownMetric('keelson_stats_dropped_series_total')
    expect(Object.fromEntries(dropped.map((s) => [s.labels.reason, s.value]))).toEqual({
      undeclared: '1',
      'label-count': '1',
      duplicate: '1',
      'no-value': '1',
    })
    // The other pod was not in the answer.
    expect(await ownMetric('keelson_stats_missing_containers')).toMatchObject([
      { labels: { endpoint: 'metrics' }, value: '1' },
    ])
  })
})

describe('each endpoint falls back by itself', () => {
  test('gate off: no stats RPC but the one in the background', async () => {
    fixture = await createStatsFixture({ pods, answers: delivers(pods) })
    await fixture.tick()
    expect(sourceOf()).toEqual({ stats: 'cgroup', metrics: 'cgroup' })
    expect(new Set(fixture.calls)).toEqual(
      new Set(['listPodSandbox', 'listContainers', 'status', 'listContainerStats', 'imageFsInfo']),
    )
  })

  test('a runtime with stats and without metrics', async () => {
    const { listPodSandboxStats } = delivers(pods)
    fixture = await createStatsFixture({ pods, stats: fromCri, answers: { listPodSandboxStats } })
    await fixture.tick()
    expect(sourceOf()).toEqual({ stats: 'cri', metrics: 'cgroup' })
    const containers = new Set((await cadvisor()).map((s) => s.labels.container))
    expect(containers).toEqual(new Set([undefined, '', 'app', 'sidecar', 'etcd']))
  })

  test('a runtime that hides the code of an unknown method, and one whose metrics are switched off', async () => {
    const { keelsonError } = await import('../../core/errors.js')
    fixture = await createStatsFixture({
      pods,
      stats: fromCri,
      answers: {
        listPodSandboxStats: () => {
          throw keelsonError('runtime.failed', 'call', {
            grpcCode: 'UNKNOWN',
            grpcMessage: 'not implemented',
          })
        },
        listMetricDescriptors: () => ({ descriptors: [{ ...descriptors[0], name: 'container_last_seen' }] }),
      },
    })
    await fixture.tick()
    expect(fixture.stats.describe()).toEqual({
      fromCri: true,
      stats: { source: 'cgroup', runtime: 'unsupported' },
      metrics: { source: 'cgroup', runtime: 'unsupported' },
      repaired: [],
    })
    const before = fixture.calls.filter((c) => c === 'listPodSandboxStats').length
    await fixture.tick()
    expect(fixture.calls.filter((c) => c === 'listPodSandboxStats')).toHaveLength(before)
  })

  test('after a reconnect the runtime is asked again', async () => {
    fixture = await createStatsFixture({ pods, stats: fromCri })
    await fixture.tick()
    expect(sourceOf()).toEqual({ stats: 'cgroup', metrics: 'cgroup' })
    for (const [method, answer] of Object.entries(delivers(pods))) fixture.answer(method, answer)
    fixture.reconnect()
    await fixture.tick(0)
    expect(sourceOf()).toEqual({ stats: 'cri', metrics: 'cri' })
  })

  test('a runtime that stops delivering: the next sample is from cgroups, and series stay', async () => {
    fixture = await createStatsFixture({ pods, stats: fromCri, answers: delivers(pods) })
    await fixture.tick()
    const key = (s: { name: string; labels: object }) => `${s.name}${JSON.stringify(s.labels)}`
    const before = (await cadvisor()).filter((s) => /^container_(cpu|memory)_/.test(s.name)).map(key)
    expect(before.length).toBeGreaterThan(10)
    fixture.answer('listPodSandboxMetrics', () => {
      throw new Error('broken')
    })
    fixture.answer('listPodSandboxStats', () => ({ stats: [] }))
    await fixture.tick()
    expect(sourceOf()).toEqual({ stats: 'cgroup', metrics: 'cgroup' })
    const after = new Set((await cadvisor()).map(key))
    expect(before.filter((k) => !after.has(k))).toEqual([])
    expect(await ownMetric('keelson_stats_fallbacks_total')).toHaveLength(2)
  })

  test('the stream form is used where the gate is on, and given up where the runtime lacks it', async () => {
    fixture = await createStatsFixture({
      pods,
      stats: { ...fromCri, streaming: true },
      answers: {
        ...delivers(pods),
        streamPodSandboxes: () => pods.map((p) => ({ podSandboxes: [sandboxOf(p)] })),
        streamContainers: () => pods.map((p) => ({ containers: containersOf(p) })),
        streamPodSandboxStats: () => pods.map((p) => ({ podSandboxStats: [statsOf(p)] })),
      },
    })
    expect(sourceOf()).toEqual({ stats: 'cri', metrics: 'cri' })
    expect(fixture.calls).toContain('streamPodSandboxStats')
    // It has no stream of metrics: from then on nothing is streamed until it comes back.
    await fixture.tick()
    fixture.calls.length = 0
    await fixture.tick()
    expect(fixture.calls.filter((c) => c.startsWith('stream'))).toEqual([])
  })
})

test('which source is in use is on /metrics', async () => {
  fixture = await createStatsFixture({ pods, stats: fromCri, answers: delivers(pods) })
  await fixture.tick()
  await cadvisor()
  await fixture.stats.resource(0)
  expect((await ownMetric('kubelet_metrics_provider')).map((s) => s.labels.provider)).toEqual(['cri'])
  const inUse = (await ownMetric('keelson_stats_source')).filter((s) => s.value === '1').map((s) => s.labels)
  expect(inUse).toEqual(
    expect.arrayContaining([
      { endpoint: 'stats', source: 'cri' },
      { endpoint: 'metrics', source: 'cri' },
    ]),
  )
})

describe('wrong values of a runtime', () => {
  const huge = 2n ** 64n - 1n
  /** As CRI-O reports them on cgroup v1: rows for each CPU, and the network of the node. */
  const crio = () => {
    const metrics = metricsOf(web)
    const [first] = metrics.containerMetrics
    const [cpu, memory] = first?.metrics ?? []
    const [network] = metrics.metrics
    if (first === undefined || cpu === undefined || memory === undefined || network === undefined)
      throw new Error('no metric')
    first.metrics = [
      { ...cpu, labelValues: [...cpu.labelValues, 'cpu00'], value: { value: 6n } },
      { ...cpu, labelValues: [...cpu.labelValues, 'cpu01'], value: { value: 5n } },
      { ...memory, value: { value: huge } },
    ]
    network.value = { value: 2_000_000_000n }
    const stats = statsOf(web)
    const [container] = stats.linux?.containers ?? []
    if (container?.memory === undefined || container.swap === undefined) throw new Error('no memory')
    container.memory.availableBytes = { value: 9_223_372_036_854_562_816n }
    container.memory.pageFaults = { value: 0n }
    container.swap.swapAvailableBytes = { value: huge }
    return {
      version: () => ({
        version: '0.1.0',
        runtimeName: 'cri-o',
        runtimeVersion: '1.36.3',
        runtimeApiVersion: 'v1',
      }),
      // Directly it is not asked for stats: that can end it.
      status: () => ({ info: { keelson: '{}' } }),
      listPodSandboxStats: () => ({ stats: [stats] }),
      listMetricDescriptors: () => ({
        descriptors: descriptors.map((d) =>
          d.name === 'container_cpu_usage_seconds_total' ? { ...d, labelKeys: [...d.labelKeys, 'cpu'] } : d,
        ),
      }),
      listPodSandboxMetrics: () => ({ podMetrics: [metrics] }),
    }
  }
  const ofApp = async (name: string) =>
    (await cadvisor()).filter((s) => s.name === name && s.labels.container === 'app')

  test('a call that can end the runtime is not made: stats come from cgroups', async () => {
    fixture = await createStatsFixture({
      pods: [web],
      stats: fromCri,
      answers: { ...crio(), status: () => ({ info: {} }) },
    })
    await fixture.tick()
    expect(fixture.calls.filter((call) => /PodSandboxStats/.test(call))).toEqual([])
    expect(sourceOf().stats).toBe('cgroup')
    expect(JSON.stringify(fixture.log.lines)).toContain('falling back to cgroups')
  })

  test('are replaced from the kernel and counted once for each sample', async () => {
    fixture = await createStatsFixture({ pods: [web], stats: fromCri, answers: crio() })
    await fixture.tick()
    expect((await ofApp('container_cpu_usage_seconds_total')).map((s) => [s.labels.cpu, s.value])).toEqual([
      ['total', '12.345678'],
    ])
    expect((await ofApp('container_memory_working_set_bytes')).map((s) => s.value.length < 12)).toEqual([
      true,
    ])
    const received = (await cadvisor()).filter((s) => s.name === 'container_network_receive_bytes_total')
    expect(received.filter((s) => s.labels.pod === 'web-0').map((s) => s.value)).toEqual(['1048576', '2048'])
    const summary = text(await fixture.stats.summary(true, 0))
    expect(summary).not.toContain('9223372036854562816')
    expect(summary).not.toContain(String(huge))
    const counted = await ownMetric('keelson_stats_repaired_values_total')
    expect(
      Object.fromEntries(counted.map((s) => [`${s.labels.family} ${s.labels.reason}`, s.labels.version])),
    ).toEqual({
      'container_cpu_usage_seconds_total cpu-rows': '1.36.3',
      'container_memory_working_set_bytes unlimited-as-amount': '1.36.3',
      'container_network node-network-counted': '1.36.3',
      'memory.availableBytes unlimited-as-amount': '1.36.3',
      'memory.pageFaults zero-page-faults': '1.36.3',
      'swap.availableBytes unlimited-as-amount': '1.36.3',
    })
    expect(fixture.stats.describe().repaired.length).toBe(counted.length)
  })

  test('a total is not repeated for each CPU', async () => {
    fixture = await createStatsFixture({
      pods: [web],
      stats: { ...fromCri, values: 'trust' },
      answers: crio(),
    })
    await fixture.tick()
    expect((await ofApp('container_cpu_usage_seconds_total')).map((s) => [s.labels.cpu, s.value])).toEqual([
      ['cpu00', '6'],
      ['cpu01', '5'],
    ])
    expect(fixture.stats.describe().repaired).toEqual([])
  })
})
