// The CRI server inside the kubelet gives the kubelet the answers that it gives others over its socket.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'vitest'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createStatsFiles } from '../../src/adapters/stats-files/stats-files.js'
import type { ValuesMode } from '../../src/core/cri/values-mode.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { type Metric, MetricDescriptor, PodSandboxMetrics } from '../../src/cri-api/api.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { FakeLog } from '../../src/fakes/log.js'
import type { CriClient, PodMetrics } from '../../src/ports/runtime.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { createStats } from '../../src/stats/create-stats.js'
import type { LookHere } from '../../src/stats/runtime/local-look.js'
import { statsOf } from '../support/runtime-values.js'
import { text } from '../support/stats-fixture.js'
import { web } from '../support/stats-pods.js'
import { startValuesFixture, type ValuesFixture } from './stats-fixture.js'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function start(
  scripts: Scripts,
  values: ValuesMode = 'repair',
): Promise<ValuesFixture & { readonly inside: CriClient }> {
  const fixture = await startValuesFixture([web], scripts, 'complete', values)
  closers.push(() => fixture.close())
  const direct = createCriClient(fixture.runtime.endpoint)
  closers.push(() => direct.close())
  return { ...fixture, inside: fixture.server.complete(direct) }
}

/** Two looks at a node whose files do not change differ in the first two; the last is only in what was decoded. */
const leftOut = new Set(['timestamp', 'usageNanoCores', '_unknownFields'])
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, v: unknown) =>
      leftOut.has(key) ? undefined : typeof v === 'bigint' ? String(v) : v,
    ),
  )

const flat = (pods: readonly PodMetrics[]): unknown =>
  pods.map((pod) => ({
    id: pod.podSandboxId,
    metrics: [...pod.metrics],
    containers: pod.containerMetrics.map((c) => ({ id: c.containerId, metrics: [...c.metrics] })),
  }))

const [app = ''] = web.containers.map((c) => c.id)
const metric = (name: string, value: bigint): Metric => ({
  name,
  timestamp: 1n,
  metricType: 0,
  labelValues: ['web-0', 'default'],
  value: { value },
})

const runtimes: Readonly<Record<string, Scripts>> = {
  'a runtime without stats': {},
  'a runtime with stats of its own': {
    ListPodSandboxStats: { value: { stats: [statsOf(web)] } },
    ListMetricDescriptors: {
      value: {
        descriptors: ['container_memory_usage_bytes', 'container_of_its_own'].map((name) =>
          MetricDescriptor.fromPartial({ name, labelKeys: ['pod', 'namespace'] }),
        ),
      },
    },
    ListPodSandboxMetrics: {
      value: {
        podMetrics: [
          PodSandboxMetrics.fromPartial({
            podSandboxId: web.sandboxId,
            metrics: [metric('container_of_its_own', 7n)],
            containerMetrics: [{ containerId: app, metrics: [metric('container_memory_usage_bytes', 5n)] }],
          }),
        ],
      },
    },
  },
}

describe.each(Object.entries(runtimes))('%s', (_, scripts) => {
  test.each(['repair', 'kernel', 'trust'] as const)('the same values with %s', async (values) => {
    const { client, inside } = await start(scripts, values)
    const stats = await inside.runtime.listPodSandboxStats({})
    assert.equal(stats.stats[0]?.linux?.containers.length, web.containers.length)
    assert.deepEqual(comparable(stats), comparable(await client.runtime.listPodSandboxStats({})))
    assert.deepEqual(
      comparable(await inside.runtime.listMetricDescriptors({})),
      comparable(await client.runtime.listMetricDescriptors({})),
    )
    const metrics = comparable(flat(await inside.metrics.list()))
    assert.ok(JSON.stringify(metrics).includes('container_memory_working_set_bytes'))
    assert.deepEqual(metrics, comparable(flat(await client.metrics.list())))
  })
})

describe('stats of a kubelet with the server inside', () => {
  interface Answers {
    readonly series: ReadonlyMap<string, number>
    readonly summary: readonly Readonly<Record<string, unknown>>[]
  }

  async function answersOf(
    fixture: Awaited<ReturnType<typeof start>>,
    lookHere?: LookHere,
  ): Promise<Answers> {
    const stats = createStats({
      nodeName: 'node-1',
      client: fixture.inside,
      cgroups: fixture.cgroups,
      procfs: fixture.procfs,
      files: createStatsFiles(),
      clock: createClock(),
      log: new FakeLog(),
      metrics: await createProcessMetrics({ processDefaults: false }),
      fromCri: true,
      lookHere,
    })
    const life = new AbortController()
    const done = stats.run(life.signal)
    try {
      const lines = text(await stats.cadvisor(5_000)).matchAll(/^(container_\S+\{.*\}) (\S+)/gm)
      const summary = JSON.parse(text(await stats.summary(true, 5_000))) as {
        readonly pods: Answers['summary']
      }
      assert.deepEqual([stats.describe().stats.source, stats.describe().metrics.source], ['cri', 'cri'])
      return {
        // Messages have whole seconds of some families.
        series: new Map([...lines].map(([, name = '', value]) => [name, Math.floor(Number(value))])),
        summary: summary.pods,
      }
    } finally {
      life.abort()
      await done
    }
  }

  const isLeftOut = (key: string): boolean => key === 'time' || key === 'usageNanoCores'
  /** Messages have no swap of a pod, only that of its containers. */
  const summaryOf = ({ summary }: Answers): unknown =>
    summary.map(({ swap: _, ...pod }) =>
      JSON.parse(JSON.stringify(pod, (key, v: unknown) => (isLeftOut(key) ? undefined : v))),
    )

  test('with kernel they are the look itself, and the same as from messages', async () => {
    const fixture = await start({}, 'kernel')
    const messages = await answersOf(fixture)
    const asked = fixture.runtime.callsOf('ListContainers').length
    const here = await answersOf(fixture, fixture.server.lookHere)
    const seen = (name: string): boolean => name.startsWith('container_last_seen{')
    assert.ok(here.series.size > 100)
    assert.deepEqual([...here.series.keys()].sort(), [...messages.series.keys()].sort())
    for (const [name, value] of here.series)
      if (!seen(name)) assert.equal(value, messages.series.get(name), name)
    assert.deepEqual(summaryOf(here), summaryOf(messages))
    // One look for stats and metrics; the other list is for file systems.
    assert.equal(fixture.runtime.callsOf('ListContainers').length - asked, 2)
  })

  test('with repair they come from messages', async () => {
    const fixture = await start({}, 'repair')
    assert.equal(await fixture.server.lookHere(), undefined)
    assert.ok((await answersOf(fixture, fixture.server.lookHere)).series.size > 100)
  })
})

test('streams have what the lists have', async () => {
  const { inside } = await start({})
  for await (const { podSandboxStats } of inside.runtime.streamPodSandboxStats({}))
    assert.deepEqual(
      comparable(podSandboxStats),
      comparable((await inside.runtime.listPodSandboxStats({})).stats),
    )
  for await (const pods of inside.metrics.stream())
    assert.deepEqual(comparable(flat(pods)), comparable(flat(await inside.metrics.list())))
})

test('with kernel the runtime is not asked for what the kernel says', async () => {
  const { inside, client, runtime } = await start(runtimes['a runtime with stats of its own'] ?? {}, 'kernel')
  for (const cri of [inside, client]) {
    await cri.runtime.listPodSandboxStats({})
    await cri.metrics.list()
  }
  assert.deepEqual(
    [runtime.callsOf('ListPodSandboxStats').length, runtime.callsOf('ListPodSandboxMetrics').length],
    [0, 0],
  )
})

test('a failure of the runtime stays one', async () => {
  const { inside } = await start({ ListPodSandboxStats: { code: 'INTERNAL', message: 'broken' } })
  await assert.rejects(
    inside.runtime.listPodSandboxStats({}),
    (e) => isKeelsonError(e) && e.details.grpcCode === 'INTERNAL',
  )
})

test('where the node cannot be read, the answers of the runtime stay as they are', async () => {
  const { inside, client } = await start({
    ...runtimes['a runtime with stats of its own'],
    ListContainers: { code: 'INTERNAL', message: 'broken' },
  })
  const stats = await inside.runtime.listPodSandboxStats({})
  assert.deepEqual(comparable(stats), comparable({ stats: [statsOf(web)] }))
  assert.deepEqual(comparable(stats), comparable(await client.runtime.listPodSandboxStats({})))
})

test('RuntimeConfig and Status are those of the server', async () => {
  const { inside, client } = await start({})
  await assert.rejects(
    inside.runtime.runtimeConfig({}),
    (e) => isKeelsonError(e) && e.code === 'runtime.unimplemented',
  )
  assert.deepEqual(
    comparable(await inside.runtime.status({ verbose: true })),
    comparable(await client.runtime.status({ verbose: true })),
  )
  assert.deepEqual((await inside.runtime.status({})).info, {})
})
